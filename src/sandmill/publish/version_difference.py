"""Compare a release with another version for its report."""

from sandmill.errors import shorten
from sandmill.publish.task_views import read_task_views
from sandmill.report.difference_figures import EARLIER_PRIVATE, EARLIER_PUBLIC, difference_figures
from sandmill.report.html.difference import ChangedFact, DifferenceFacts, difference_section
from sandmill.report.html.page import Edition, Section
from sandmill.report.queries import View, open_queries
from sandmill.store.difference import Changed, compare_releases, describe_fact
from sandmill.store.release import StoredRelease, load

_PUBLIC_PARTS = {"build", "request", "libraries"}
"""Parts of a difference that the public edition shows. Counts of bands and means of difficulty may come from the
private half."""
_VIEWS = {"public_tasks": EARLIER_PUBLIC, "private_tasks": EARLIER_PRIVATE}


def against_section(release: StoredRelease, edition: Edition, against: str) -> Section:
    """Return the section on what differs from another version.

    Args:
        release: of the report.
        edition: the public one, and one against a version without a readable private half, compares public facts.
        against: reference of the earlier version.

    Raises:
        ReleaseNotFound: there is no such version.
        IntegrityError: a table or a report is damaged.
    """
    earlier = load(against)
    is_private = edition == "private" and earlier.has_private
    found = compare_releases(earlier, release)
    own: Edition = "private" if is_private else "public"
    views = read_task_views(release, own)
    for name, view in read_task_views(earlier, own).items():
        views[_VIEWS[name]] = View(view.table, _located(view.source, release, earlier))
    with open_queries(views) as queries:
        counts, listed, mixes = difference_figures(queries, is_private)
    shown = [fact for fact in found.facts if edition == "private" or fact.part in _PUBLIC_PARTS]
    facts = DifferenceFacts(
        before=found.a,
        after=found.b,
        compared=found.compared,
        changed=found.changed,
        counts=counts,
        listed=listed,
        mixes=mixes,
        facts=tuple(map(_in_words, shown)),
    )
    return difference_section(facts)


def _located(source: str, release: StoredRelease, earlier: StoredRelease) -> str:
    """Return the source of an earlier table as seen from the folder of the release."""
    is_same = release.store.root == earlier.store.root
    folder = f"../{earlier.version}" if is_same else earlier.store.where(earlier.version).replace("'", "''")
    return source.replace("read_parquet('", f"read_parquet('{folder}/")


def _in_words(fact: Changed) -> ChangedFact:
    return ChangedFact(
        part=fact.part, name=shorten(fact.name), before=describe_fact(fact.a), after=describe_fact(fact.b)
    )
