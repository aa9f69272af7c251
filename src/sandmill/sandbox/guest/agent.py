"""The agent process: a fork of the warm interpreter that joins the namespaces of its run and runs the agent's code."""

import os
import socket
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel, script
from sandmill.sandbox.guest.rehearsal import Span, touch_ahead


def run_agent_process(job_socket: socket.socket, init_socket: socket.socket, init: int, spans: list[Span]) -> NoReturn:
    """Wait for a job and run it. The process may be forked before the job exists, and touches memory meanwhile.

    `job_socket` receives the descriptors of the job, standard output, standard error and the set-up socket. `init` is
    the pidfd of the init process.
    """
    box.close_all_but(job_socket.fileno(), init_socket.fileno(), init)
    kernel.die_with_parent()
    os.setsid()
    touch_ahead(spans, job_socket)
    message, descriptors, _, _ = socket.recv_fds(job_socket, 16, 4)
    if not message:
        os._exit(0)
    job_at, stdout, stderr, setup_at = descriptors
    setup_socket = socket.socket(fileno=setup_at)
    try:
        box.replace_stream(1, stdout)
        box.replace_stream(2, stderr)
        # Parse the job before sending it: an init process that cannot parse it ends, and this process with it, so that
        # nobody would report the error.
        job = box.GuestRun(job_at)
        socket.send_fds(init_socket, [b"job"], [job_at])
        box.prefer_as_oom_victim()
        box.restrict_to_processors(job.processors)
        _join_namespaces(init_socket, init, setup_socket)
    except BaseException as error:
        box.report_error(setup_socket, error)
    script.run_job(job, box.WORK)


def _join_namespaces(init_socket: socket.socket, init: int, setup_socket: socket.socket) -> None:
    """Join the namespaces of the run, let the parent copy files in, and drop all rights."""
    reply = init_socket.recv(1 << 12).decode(errors="replace")
    if not reply.startswith("furnished "):
        raise ConnectionError(reply.removeprefix("error ") or "the init process of the run is gone")
    uid = int(reply.split()[1])
    kernel.enter_namespace(init, kernel.RUN_NAMESPACES)
    if not uid:
        kernel.enter_namespace(init, kernel.CLONE_NEWUSER)
    init_socket.send(b"joined")
    box.close_input()
    box.report_ready(setup_socket, uid)
    box.become_agent(uid)
    kernel.die_with_parent()
    box.report_started(setup_socket)
