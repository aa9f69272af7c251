"""When a training has nothing left to learn from."""

from collections.abc import Sequence

from sandmill.learning.curves import CurveRow

_ALL_FLAT = 0.99
"""Share of groups without variance from which on an update counts as empty."""


def find_collapse(rows: Sequence[CurveRow], patience: int) -> str:
    """Return why the training should stop; empty while it should go on.

    It stops after `patience` updates in a row in which no group had different rewards.
    """
    last = [row for row in rows if row.flat_groups is not None][-patience:]
    if len(last) < patience or any((row.flat_groups or 0.0) < _ALL_FLAT for row in last):
        return ""
    end = last[-1]
    cause = _cause(end)
    return (
        f"Stopped after update {end.update}: in {patience} updates in a row, all scripts of a task had equal rewards, "
        f"so there was nothing to learn from. {cause} The best checkpoint is kept."
    )


def _cause(row: CurveRow) -> str:
    entropy = 0.0 if row.entropy is None else row.entropy
    if (row.valid or 0.0) < 0.02:
        return "No script was valid: train with sft first, or give a policy that writes valid scripts with --start."
    if (row.distinct or 0.0) < 0.3:
        return (
            f"The policy has collapsed to one script for each task (entropy {entropy:.3f}): "
            "use a larger entropy bonus, a smaller learning rate or fewer updates."
        )
    return "Different scripts earn the same: use a reward with more levels, or harder tasks."
