"""The one scale on which scores of different tasks and metrics compare."""

from sandmill.errors import DegenerateTask


def gap_closed(score: float, trivial: float, oracle: float) -> float:
    """Put scores of different tasks and metrics on one scale.

    0 is the trivial solver, 1 the oracle; direction drops out because both ends carry it. Unclipped: below 0 is worse
    than trivial, above 1 is luck on a finite test set.

    Raises:
        DegenerateTask: if trivial and oracle are equal, since then no solver can be told from another.
    """
    if oracle == trivial:
        raise DegenerateTask(trivial=trivial, oracle=oracle)
    return (score - trivial) / (oracle - trivial)
