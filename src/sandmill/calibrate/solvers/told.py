"""What a solver is told beside the files."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """The facts that a task's description states in words."""

    id_column: str
    target_column: str
    target: str
    metric: str
    encoding: str
    classes: tuple[str, ...]
    submission_columns: tuple[str, ...]
