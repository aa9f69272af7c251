"""sandmill doctor: check whether this machine is ready, and say what to type if not."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from sandmill.cli.checks.base import CheckResult
from sandmill.cli.screen import JsonOption, open_console, show_progress, write_json

EXAMPLES = "Examples: `sandmill doctor` · `sandmill doctor --root s3://bucket/releases` · `sandmill doctor --json`"


def doctor(
    root: Annotated[
        str, typer.Option("--root", metavar="ROOT", help="Folder or S3 prefix that holds or will hold datasets.")
    ] = "releases",
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="Work pool of the Prefect server.")] = "sandmill",
    as_json: JsonOption = False,
) -> None:
    """Check Python, packages, isolation, agent environment, root, Prefect server and free disk.

    Each problem comes with the command that mends it. A root on S3 is checked for conditional writes with one small
    object, which is removed. The Prefect server is the one that PREFECT_API_URL names. The exit code is 1 if something
    is bad.
    """
    with show_progress("checking"):
        checks = list(_check_all(root, pool))
    is_ready = all(check.status != "bad" for check in checks)
    if as_json:
        write_json({"ready": is_ready, "findings": [asdict(check) for check in checks]})
    else:
        _print_checks(checks, is_ready)
    if not is_ready:
        raise typer.Exit(1)


def _check_all(root: str, pool: str) -> Iterator[CheckResult]:
    from sandmill.cli.checks.isolation import check_agent_env, check_isolation
    from sandmill.cli.checks.machine import check_browser, check_disk
    from sandmill.cli.checks.orchestration import check_server
    from sandmill.cli.checks.packages import check_extras, check_pipeline, check_python, check_requirements
    from sandmill.cli.checks.storage import check_root

    yield check_python()
    yield from check_requirements()
    yield from check_pipeline()
    yield from check_extras()
    yield from check_isolation()
    yield check_agent_env()
    yield from check_root(root)
    yield from check_server(pool)
    yield from check_disk(root)
    yield check_browser()


def _print_checks(checks: list[CheckResult], is_ready: bool) -> None:
    from sandmill.cli.checks.isolation import AGENT_ENV

    console = open_console()
    wide = max(len(check.what) for check in checks)
    for check in checks:
        console.print(f"{check.what:<{wide}}  {check.status:<4}  {check.saw}")
        if check.do:
            console.print(f"    {check.do}", soft_wrap=True)
    ready = "Ready."
    if any(check.what == AGENT_ENV and check.status != "ok" for check in checks):
        ready = "Ready, except for running code: sandmill agent-env create"
    console.print(f"\n{ready}" if is_ready else "\nNot ready: fix what is bad above.")
