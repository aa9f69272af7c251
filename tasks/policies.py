"""Policies of tasks. Retries, caching and limits are decided here alone."""

from typing import Any

from prefect.cache_policies import NO_CACHE

from sandmill import errors

PLAIN: dict[str, Any] = {"cache_policy": NO_CACHE}
"""For quick tasks without IO: no retries. The store's finished shards are the only cache."""


VERDICTS = (
    *(errors.InputError, errors.BudgetExceeded, errors.IntegrityError),
    *(errors.LeakyRelease, errors.MixMissed, errors.SandboxUnavailable),
)
"""Errors that equal input raises every time."""


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
