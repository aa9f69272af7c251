"""Sections of a report that need more than the release: rollouts, another version, the record of a red team."""

from collections.abc import Sequence

from sandmill.publish.overlay import rollouts_section
from sandmill.publish.red_team import attacks_section
from sandmill.publish.version_difference import against_section
from sandmill.report.html.page import Edition, Section
from sandmill.store.release import StoredRelease


def extra_sections(
    release: StoredRelease,
    edition: Edition,
    rollouts: Sequence[str] = (),
    against: str | None = None,
    red_team: str | None = None,
) -> list[Section]:
    """Return the sections that were asked for, in the order in which the page shows them."""
    sections = []
    if rollouts:
        sections.append(rollouts_section(release, edition, rollouts))
    if against:
        sections.append(against_section(release, edition, against))
    if red_team:
        sections.append(attacks_section(release, edition, red_team))
    return sections
