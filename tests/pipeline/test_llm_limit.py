import threading

import pytest
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate, GlobalConcurrencyLimitUpdate

from sandmill.errors import RequestError
from tasks.policies import LLM_LIMIT, llm_calls_allowed

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]


@pytest.fixture
def limit(prefect_server):
    """A global limit of ten calls."""
    prefect_server.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=LLM_LIMIT, limit=10))
    yield prefect_server
    prefect_server.delete_global_concurrency_limit_by_name(LLM_LIMIT)


def _used(client) -> int:
    return client.read_global_concurrency_limit_by_name(LLM_LIMIT).active_slots


def test_builds_together_never_have_more_calls_than_the_limit(limit):
    second_may_ask = threading.Event()

    def second() -> None:
        with llm_calls_allowed(6):
            second_may_ask.set()

    with llm_calls_allowed(6):
        assert _used(limit) == 6
        other = threading.Thread(target=second)
        other.start()
        assert not second_may_ask.wait(3), "12 calls at once"
    assert second_may_ask.wait(60)
    other.join()
    assert _used(limit) == 0


def test_a_build_that_could_never_begin_is_refused(limit):
    with pytest.raises(RequestError, match="at most 10"), llm_calls_allowed(11):
        pass


def test_without_an_active_limit_any_number_is_allowed(prefect_server, limit):
    limit.update_global_concurrency_limit(LLM_LIMIT, GlobalConcurrencyLimitUpdate(active=False))
    with llm_calls_allowed(99):
        pass
    limit.update_global_concurrency_limit(LLM_LIMIT, GlobalConcurrencyLimitUpdate(active=True, limit=10))
