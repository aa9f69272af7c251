"""Guest side of a run in a new interpreter: inside bubblewrap, which made namespaces and root, or without isolation."""

import os
import socket

from sandmill.sandbox.guest import agent, box, kernel
from sandmill.sandbox.guest.template import DEVICES

PUBLIC = "/.public"
"""Where bubblewrap mounts the public files. We bind them into the run's own file system."""


def main(arguments: list[str]) -> None:
    """Run one job, as the unpacked arguments say. The uid is 0 if not root."""
    kind, uid, job_at, setup_at, *guest_folder = arguments
    setup_socket = socket.socket(fileno=int(setup_at))
    try:
        job = box.GuestRun(int(job_at))
        box.restrict_to_processors(job.processors)
        if kind == "bwrap":
            _enter_box(job, int(uid), setup_socket, guest_folder[0])
        else:
            box.report_ready(setup_socket, -1, ".")
        box.report_started(setup_socket)
    except BaseException as error:
        box.report_error(setup_socket, error)
    agent.run_job(job, box.WORK if kind == "bwrap" else ".")


def _enter_box(job: box.GuestRun, uid: int, setup_socket: socket.socket, guest_folder: str) -> None:
    """Finish the isolation that bubblewrap has begun, and drop all rights."""
    box.prefer_as_oom_victim()
    box.mount_run_folders(kernel.copy_mounts(PUBLIC), job)
    proc_self = _open_writable_self()
    for path in (PUBLIC, guest_folder):
        kernel.detach(path)
    kernel.restrict_mounts("/proc")
    for device in DEVICES:
        kernel.restrict_mounts(f"/dev/{device}", has_devices=True)
    box.close_input()
    box.claim_folders(uid)
    box.report_ready(setup_socket, uid)
    if not uid:
        box.make_user(proc_self)
    box.become_agent(uid)
    os.close(proc_self)


def _open_writable_self() -> int:
    """Open this process's folder in a separate, hidden mount of /proc. The uid map is written through it later."""
    aside = f"{box.BOX}/proc"
    os.mkdir(aside, 0o700)
    kernel.mount("/proc", aside, None, kernel.MS_BIND | kernel.MS_REC)
    proc_self = os.open(f"{aside}/self", os.O_RDONLY | os.O_DIRECTORY)
    kernel.detach(aside)
    os.rmdir(aside)
    return proc_self
