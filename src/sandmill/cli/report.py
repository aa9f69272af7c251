"""sandmill report: a page that shows a release in a browser."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import JsonOption, ReleaseArgument, repeatable, show_progress, write_json, write_text
from sandmill.errors import InputError, Problem, count

if TYPE_CHECKING:
    from sandmill.report.html.figure import Edition

REPORT_EXAMPLES = (
    "Examples: `sandmill report releases/micro --to report` · "
    "`sandmill report s3://bucket/releases/micro@3 --to report --private` · "
    "`sandmill report releases/micro@2 --to report --rollouts rollouts/base "
    "--rollouts after=rollouts/step-100`"
)


def report(
    release: ReleaseArgument,
    to: Annotated[
        str, typer.Option(metavar="DIR", help="New folder, local or s3://, to write into.", show_default=False)
    ],
    private: Annotated[
        bool, typer.Option("--private", help="With thresholds, scores and difficulty: not for agents to see.")
    ] = False,
    rollouts: Annotated[
        list[str] | None,
        repeatable(
            "--rollouts",
            "[LABEL=]PLACE",
            "Show what models earned: a folder of `sandmill rollout` or a Parquet file; may be repeated. Others are "
            "compared with the first.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page on a release, report.html, and its numbers for programs, qc.json.

    The page is one file that loads nothing, so that it opens from a disk as from a web server. It lists the tasks with
    filters and search, shows each task, and tells how the build went, with the SQL behind each figure.

    Every version has its public page in `reports/report.html` already.
    """
    from sandmill.publish.overlay import rollouts_section
    from sandmill.publish.release_report import PAGE, check_folder, make_report, write_folder
    from sandmill.store.release import load

    opened = load(release)
    edition: Edition = "private" if private else "public"
    if private and not opened.has_private:
        problem = Problem("--private", "no private half that is readable here", "private/ of the release")
        raise InputError(opened.ref, [problem], "Nothing was written.")
    check_folder(to)
    with show_progress("making the report"):
        extra = [rollouts_section(opened, edition, rollouts)] if rollouts else []
        made = make_report(opened, edition, extra)
        write_folder(to, made.files, owner_only=private)
    place = to.rstrip("/")
    if as_json:
        files = {name: f"{place}/{name}" for name in sorted(made.files)}
        write_json({"release": opened.ref, "edition": edition, "tasks": made.tasks, "files": files})
    else:
        write_text(f"{opened.ref}: {count(made.tasks, 'task')}, {edition} edition, in {place}/{PAGE}")
