"""A run in an interpreter of its own: inside bubblewrap, which made namespaces and root, or with no isolation."""

import os
import socket
import sys

from sandmill.sandbox.guest import box, kernel, script
from sandmill.sandbox.guest.template import DEVICES

PUBLIC = "/.public"
"""Where bubblewrap puts the public files, for us to bind them into the run's own file system."""


def main(arguments: list[str]) -> None:
    """Run one job.

    Args:
        arguments: `bwrap` or `bare`, the run's uid as root else 0, descriptors of the job and of the stage socket,
            and for bwrap the folder of this file.
    """
    kind, uid, job_at, stage_at, *here = arguments
    talk = socket.socket(fileno=int(stage_at))
    try:
        job = box.Job(int(job_at))
        box.keep_to(job.processors)
        if kind == "bwrap":
            _shut_in(job, int(uid), talk, here[0])
        else:
            box.report_ready(talk, -1, ".")
        box.report_started(talk)
    except BaseException as error:
        talk.send(f"error {type(error).__name__}: {error}".encode())
        os._exit(1)
    os.chdir(box.WORK if kind == "bwrap" else ".")
    try:
        box.set_limits(job.limits)
        script.write_script(job.code)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
    script.run_script(job.code)


def _shut_in(job: box.Job, uid: int, talk: socket.socket, here: str) -> None:
    box.be_first_to_die()
    box.furnish(kernel.copy_mounts(PUBLIC), job)
    proc_self = _open_writable_self()
    for path in (PUBLIC, here):
        kernel.detach(path)
    kernel.restrict_mounts("/proc")
    for device in DEVICES:
        kernel.restrict_mounts(f"/dev/{device}", has_devices=True)
    box.close_input()
    box.claim_folders(uid)
    box.report_ready(talk, uid)
    if not uid:
        box.make_user(proc_self)
    box.become_agent(uid)
    os.close(proc_self)
    kernel.set_dumpable(True)


def _open_writable_self() -> int:
    """Open our folder in a mount of /proc of its own, out of sight: the map of users is written through it later."""
    aside = f"{box.BOX}/proc"
    os.mkdir(aside, 0o700)
    kernel.mount("/proc", aside, None, kernel.MS_BIND | kernel.MS_REC)
    proc_self = os.open(f"{aside}/self", os.O_RDONLY | os.O_DIRECTORY)
    kernel.detach(aside)
    os.rmdir(aside)
    return proc_self
