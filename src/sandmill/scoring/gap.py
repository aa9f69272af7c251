"""The scale on which scores of different tasks and metrics are compared."""

from sandmill.errors import DegenerateTask


def gap_closed(score: float, trivial: float, oracle: float) -> float:
    """Put scores of different tasks and metrics on one scale.

    0 is the trivial solver and 1 the oracle, for metrics of either direction. The result is not clipped: values below
    0 are worse than trivial, and values above 1 are luck on a finite test set.

    Raises:
        DegenerateTask: if trivial and oracle have equal scores.
    """
    if oracle == trivial:
        raise DegenerateTask(trivial=trivial, oracle=oracle)
    return (score - trivial) / (oracle - trivial)
