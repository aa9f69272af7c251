"""Policies of tasks. Retries, caching and limits are decided here alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectNotFound

from sandmill import errors
from sandmill.errors import Problem, RequestError

PLAIN: dict[str, Any] = {"cache_policy": NO_CACHE}
"""For quick tasks without IO: no retries. The store's finished shards are the only cache."""


VERDICTS = (
    *(errors.InputError, errors.BudgetExceeded, errors.IntegrityError),
    *(errors.LeakyRelease, errors.MixMissed, errors.SandboxUnavailable),
)
"""Errors that equal input raises every time."""

LLM_LIMIT = "sandmill-llm"
"""Name of the limit. Its number is that of requests at once, summed over all builds of the server."""


def is_worth_retrying(task: Any, run: Any, state: Any) -> bool:
    """Retry errors that may pass by themselves, but neither wrong inputs nor verdicts on finished work."""
    error = state.result(raise_on_failure=False)
    return not isinstance(error, VERDICTS)


STORED: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "retries": 2,
    "retry_delay_seconds": [2, 10],
    "retry_condition_fn": is_worth_retrying,
}
"""For tasks that use the store: a dropped connection is tried again, and finished work is found there."""


@contextmanager
def llm_calls_allowed(calls: int) -> Iterator[None]:
    """Wait until the limit has room for as many requests at once, and keep them until the end.

    A server without the limit, or with an inactive one, allows any number.

    Raises:
        RequestError: the limit is lower than the calls of this build, so waiting would never end.
    """
    with get_client(sync_client=True) as client:
        try:
            found = client.read_global_concurrency_limit_by_name(LLM_LIMIT)
            limit = found.limit if found.active else None
        except ObjectNotFound:
            limit = None
    if limit is None:
        yield
        return
    if calls > limit:
        hint = f"Lower it, or raise the limit: prefect gcl update {LLM_LIMIT} --limit {calls}"
        problem = Problem("--llm-calls", str(calls), f"at most {limit}, the global limit {LLM_LIMIT}", hint)
        raise RequestError("language models", [problem])
    with concurrency(LLM_LIMIT, occupy=calls):
        yield
