"""Policy for audits: what is found becomes an artifact before the run fails for it."""

from typing import cast

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.logging import get_run_logger
from prefect.states import Completed

from sandmill.models.request import AuditRequest
from sandmill.verify.audit import Audit, audit_release, require_whole
from tasks.policies import PLAIN, STORED


@task(name="verify latest", **STORED)
def verify_latest(request: AuditRequest) -> Audit:
    """Verify the latest version again from the store."""
    return audit_release(request)


@task(name="report audit", **PLAIN)
def report_audit(audit: Audit) -> None:
    """Keep what was found as an artifact, and warn of drift."""
    create_markdown_artifact(_page(audit), key=f"{audit.dataset}-audit")
    for line in audit.drift:
        get_run_logger().warning("drift: %s", line)


def audited_state(audit: Audit) -> str:
    """Make the final state of the run: failed if something does not hold, with all of it."""
    require_whole(audit)
    return cast("str", Completed(message=audit.message, data=audit.release))


def _page(audit: Audit) -> str:
    parts = [audit.message]
    for title, lines in (("Problems", audit.problems), ("Drift of libraries", audit.drift)):
        parts += ["", f"## {title}", "", *(f"- {line}" for line in lines or ("none",))]
    return "\n".join(parts)
