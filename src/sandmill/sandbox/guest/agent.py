"""The process in which the agent's code runs: a fork of the warm interpreter that joins the namespaces of its init."""

import os
import socket
import sys
from typing import NoReturn

from sandmill.sandbox.guest import box, kernel, script
from sandmill.sandbox.guest.keeper import close_all_but
from sandmill.sandbox.guest.rehearsal import Span, touch_ahead


def be_agent(orders: socket.socket, link: socket.socket, init: int, spans: list[Span]) -> NoReturn:
    """Wait for a job and run it. Everything up to the fork of the code may have been done before there was a job.

    Args:
        orders: brings descriptors of the job, standard output, standard error and the stage socket.
        link: leads to the init of the run.
        init: its pidfd.
        spans: memory to touch while there is no job.
    """
    close_all_but(orders.fileno(), link.fileno(), init)
    kernel.die_with_parent()
    os.setsid()
    touch_ahead(spans, orders)
    message, descriptors, _, _ = socket.recv_fds(orders, 16, 4)
    if not message:
        os._exit(0)
    job_at, stdout, stderr, stage = descriptors
    talk = socket.socket(fileno=stage)
    try:
        box.take_streams(stdout, stderr)
        # Read first: an init that cannot read the job ends, and ends this process before it could say why.
        job = box.Job(job_at)
        socket.send_fds(link, [b"job"], [job_at])
        box.be_first_to_die()
        box.keep_to(job.processors)
        _join(link, init, talk)
    except BaseException as error:
        talk.send(f"error {type(error).__name__}: {error}".encode())
        os._exit(1)
    try:
        kernel.set_dumpable(True)
        os.chdir(box.WORK)
        box.set_limits(job.limits)
        script.write_script(job.code)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
    script.run_script(job.code)


def _join(link: socket.socket, init: int, talk: socket.socket) -> None:
    said = link.recv(1 << 12).decode(errors="replace")
    if not said.startswith("furnished "):
        raise ConnectionError(said.removeprefix("error ") or "the init of the run is gone")
    uid = int(said.split()[1])
    kernel.enter_namespace(init, box.OWN_NAMESPACES)
    if not uid:
        kernel.enter_namespace(init, kernel.CLONE_NEWUSER)
    link.send(b"joined")
    box.close_input()
    box.report_ready(talk, uid)
    box.become_agent(uid)
    kernel.die_with_parent()
    box.say_started(talk)
    close_all_but()
