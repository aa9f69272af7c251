"""Render the targets of kinds whose targets are a part of the items."""

from sandmill.draw.rows import PartRows
from sandmill.kinds.targets import RenderedTargets
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.spec import TaskSpec


def rendered_targets(spec: TaskSpec, rows: PartRows) -> RenderedTargets | None:
    """Render the targets of one part, in the order drawn. None if the mechanism draws them."""
    if spec.kind.targets is None:
        return None
    row_numbers = RowNumbers(rows.streams, rows.draw.numbers)
    made: RenderedTargets = spec.kind.load("targets")(spec.channel, rows.draw.observed, row_numbers)
    return made
