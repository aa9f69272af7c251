"""Start the warm interpreter again from read-only mounts, so that its forks can write to nothing of the host.

A process reaches the file of its own program through /proc/self/exe. That leads to the mount that the program was
started from, even when the process has another root by now. On a writable mount, a run could change the file's mode,
times and attributes if its user owns the interpreter, as an ordinary user often does.
"""

import json
import os
import socket
import sys

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.template import leave_host


def main(arguments: list[str]) -> None:
    """Become the warm interpreter.

    Args:
        arguments: descriptor of the control socket, and `root` or `user`: whether we may do without a user namespace.
    """
    control_at, right = arguments
    try:
        leave_host(right == "root")
        kernel.freeze_mounts("/")
        # Maps of users and the order of dying are written there.
        kernel.unfreeze_mount("/proc")
        os.execv(sys.executable, [*sys.orig_argv[: -len(arguments) - 1], "serve", control_at])
    except Exception as error:
        control = socket.socket(fileno=int(control_at))
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
