"""The section of a report on what attack scripts earned."""

from collections.abc import Sequence

from sandmill.models.red_team import RedTeamRecord
from sandmill.report.html.figure import Figure, figure_block, figure_table
from sandmill.report.html.markup import Markup, element, join
from sandmill.report.html.page import Section


def red_team_section(
    record: RedTeamRecord, figures: Sequence[Figure], is_private: bool, is_same_version: bool
) -> Section:
    """Return the section: a table by preset, and in the private edition the matrices."""
    first, *rest = figures
    lines = [f"{len(record.attacks)} attacks on one task, judged by {record.metric}, in the sandbox {record.backend}."]
    if is_private:
        lines.append(f"Task {record.task_id} of version {record.release}; library {record.library}.")
    if not is_same_version:
        lines.append(f"Measured on version {record.release}, not on this one.")
    html = join(
        [
            *(element("p", line, class_="faint") for line in lines),
            figure_block(first, figure_table(first)),
            *(figure_block(one, _folded(one)) for one in rest),
        ]
    )
    return Section(
        id="red-team",
        title="Red team",
        html=html,
        data={"release": record.release, "backend": record.backend, "library": record.library},
        figures=tuple(figures),
    )


def _folded(figure: Figure) -> Markup:
    """Fold a long table."""
    table = figure_table(figure)
    if len(figure.rows) <= 20:
        return table
    return element("details", element("summary", f"{len(figure.rows)} attacks"), table)
