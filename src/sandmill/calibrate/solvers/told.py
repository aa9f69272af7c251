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
    target_columns: tuple[str, ...]
    list_length: int | None

    @property
    def is_wide(self) -> bool:
        """Whether the target has several columns: labels or numbers."""
        return self.target in ("multilabel", "multi_target")
