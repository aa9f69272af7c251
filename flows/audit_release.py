"""Verify the latest version of a dataset again. Run from the root: python -m flows.audit_release --release DATASET."""

import sys

from prefect import flow
from prefect.exceptions import CancelledRun

from sandmill.cli.arguments import run_program
from sandmill.models.request import AuditRequest
from tasks.killed_runs import end_server_with_this_process, mark_killed_runs_as_crashed
from tasks.lineage import abort_lineage, lineage_events
from tasks.operations import audited_state, report_audit, verify_latest
from tasks.parameters import AuditOf

PROGRAMME = "python -m flows.audit_release"
EXAMPLES = f"""{PROGRAMME} --release releases/nightly
{PROGRAMME} --release s3://bucket/releases/nightly --rerun 10"""


@flow(name="audit-release", flow_run_name="{request.release}", on_crashed=[abort_lineage])
def audit_release(request: AuditOf) -> str:
    """Read every byte of the latest version, run a sample of tasks again, report drift of libraries."""
    mark_killed_runs_as_crashed()
    with lineage_events(request.release, request.lineage_to) as lineage:
        lineage.read_release(request.release)
        audit = verify_latest(request)
        report_audit(audit)
        return audited_state(audit)


def _audit(request: AuditRequest) -> None:
    end_server_with_this_process()
    state = audit_release(request, return_state=True)
    state.result()
    print(state.message)


def main() -> int:
    """Audit from the command line."""
    description = audit_release.__doc__ or ""
    return run_program(_audit, PROGRAMME, description, EXAMPLES, AuditRequest, stops=(CancelledRun,))


if __name__ == "__main__":
    sys.exit(main())
