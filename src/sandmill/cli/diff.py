"""sandmill diff: what changed from one release to another."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import RELEASE_HELP, JsonOption, open_console, write_json, write_text
from sandmill.errors import SandmillError, count, shorten

if TYPE_CHECKING:
    from rich.console import Console

    from sandmill.store.catalogue import ReleaseDifference

DIFF_EXAMPLES = (
    "Examples: `sandmill diff releases/micro@1 releases/micro` · "
    "`sandmill diff s3://bucket/releases/micro@3 releases/micro@3 --json`"
)

_ROWS = 20


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=RELEASE_HELP, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help=RELEASE_HELP, show_default=False)],
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Tasks of each list that are named at most; --json lists all.")
    ] = _ROWS,
    as_json: JsonOption = False,
) -> None:
    """Compare two releases: tasks added, removed and changed, and the inputs and figures that differ.

    A task is changed if both releases have its id and its files differ. Tasks are compared by the digests of both
    halves; where a private half is not readable, by their public files. Number and date of a version do not count.

    Exit code: 0 if nothing differs, 1 if something does, 2 on errors.
    """
    from sandmill.store.catalogue import compare_releases
    from sandmill.store.release import load

    try:
        found = compare_releases(load(a), load(b))
    except SandmillError as error:
        write_text(str(error), to_stderr=True)
        raise typer.Exit(2) from error
    if as_json:
        write_json({**found.model_dump(mode="json"), "differs": found.differs})
    else:
        _print(found, limit)
    if found.differs:
        raise typer.Exit(1)


def _print(found: "ReleaseDifference", limit: int) -> None:
    console = open_console()
    console.print(f"{found.a} -> {found.b}", style="bold", soft_wrap=True)
    if not found.differs:
        console.print(f"nothing differs: {count(found.same, 'equal task')}, compared by {found.compared}")
        return
    lists = {"+ added": found.added, "- removed": found.removed, "~ changed": found.changed}
    for title, ids in lists.items():
        _print_ids(console, title, ids, limit)
    console.print(f"= equal: {count(found.same, 'task')}, compared by {found.compared}")
    if found.facts:
        from sandmill.report.text_tables import TextTable
        from sandmill.store.catalogue import describe_fact

        rows = tuple((one.part, shorten(one.name), describe_fact(one.a), describe_fact(one.b)) for one in found.facts)
        console.print()
        console.print_table(TextTable("", ("part", "fact", "A", "B"), rows))


def _print_ids(console: "Console", title: str, ids: tuple[str, ...], limit: int) -> None:
    if ids:
        more = f" ... and {len(ids) - limit} more; see --limit" if len(ids) > limit else ""
        console.print(f"{title}: {count(len(ids), 'task')}: {' '.join(ids[:limit])}{more}")
