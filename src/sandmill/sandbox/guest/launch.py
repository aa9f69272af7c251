"""Restart the interpreter from read-only mounts, and become the warm interpreter.

A process can open its own program through /proc/self/exe. The link leads to the mount that the program was started
from, even after a change of root. On a writable mount a run could change mode, times and attributes of the file if its
user owns the interpreter, as ordinary users often do.
"""

import json
import os
import socket
import sys

from sandmill.sandbox.guest import kernel
from sandmill.sandbox.guest.template import leave_host


def main(arguments: list[str]) -> None:
    """Become the warm interpreter. Arguments: descriptor of the control socket; `root`, or `user` without root."""
    control_at, right = arguments
    try:
        leave_host(right == "root")
        kernel.freeze_mounts("/")
        # The uid map and the OOM score are written there.
        kernel.unfreeze_mount("/proc")
        os.execv(sys.executable, [*sys.orig_argv[: -len(arguments) - 1], "serve", control_at])
    except Exception as error:
        control = socket.socket(fileno=int(control_at))
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
