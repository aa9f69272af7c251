"""Verify the latest version of a dataset again. Run from the root: python -m flows.audit_release --release DATASET."""

import sys

from prefect import flow

from sandmill.models.request import AuditRequest
from sandmill.verify.audit import require_whole
from tasks.operations import verify_latest
from tasks.parameters import AuditOf
from tasks.programs import run_flow
from tasks.publishing import completed_state

PROGRAMME = "python -m flows.audit_release"
EXAMPLES = f"""{PROGRAMME} --release releases/nightly
{PROGRAMME} --release s3://bucket/releases/nightly --rerun 10"""


@flow(name="audit-release", flow_run_name="{request.release}")
def audit_release(request: AuditOf) -> str:
    """Read every byte of the latest version, run a sample of tasks again, report drift of libraries."""
    audit = verify_latest(request)
    require_whole(audit)
    return completed_state(audit.message, audit.release)


if __name__ == "__main__":
    sys.exit(run_flow(audit_release, PROGRAMME, EXAMPLES, AuditRequest))
