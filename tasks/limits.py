"""Limit calls of language models across builds on several machines, by a global concurrency limit of the server."""

from collections.abc import Iterator
from contextlib import contextmanager

from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectNotFound

from sandmill.errors import Problem, RequestError

LLM_LIMIT = "sandmill-llm"
"""Name of the limit. Its number is that of requests at once, summed over all builds of the server."""


@contextmanager
def llm_calls_allowed(calls: int) -> Iterator[None]:
    """Wait until the limit has room for as many requests at once, and keep them until the end.

    A server without the limit, or with an inactive one, allows any number.

    Raises:
        RequestError: the limit is lower than the calls of this build, so waiting would never end.
    """
    limit = _read_limit()
    if limit is None:
        yield
        return
    if calls > limit:
        hint = f"Lower it, or raise the limit: prefect gcl update {LLM_LIMIT} --limit {calls}"
        problem = Problem("--llm-calls", str(calls), f"at most {limit}, the global limit {LLM_LIMIT}", hint)
        raise RequestError("language models", [problem])
    with concurrency(LLM_LIMIT, occupy=calls):
        yield


def _read_limit() -> int | None:
    with get_client(sync_client=True) as client:
        try:
            found = client.read_global_concurrency_limit_by_name(LLM_LIMIT)
        except ObjectNotFound:
            return None
    return found.limit if found.active else None
