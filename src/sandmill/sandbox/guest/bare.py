"""Guest side of a run in a new interpreter without isolation."""

import socket

from sandmill.sandbox.guest import agent, box


def main(arguments: list[str]) -> None:
    """Run one job, whose descriptor and that of the set-up socket are the arguments."""
    job_at, setup_at = map(int, arguments)
    setup_socket = socket.socket(fileno=setup_at)
    try:
        job = box.GuestRun(job_at)
        box.restrict_to_processors(job.processors)
        box.report_ready(setup_socket, -1, ".")
        box.report_started(setup_socket)
    except BaseException as error:
        box.report_error(setup_socket, error)
    agent.run_job(job, ".")
