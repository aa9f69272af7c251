"""End another process when this one is gone, however it ends."""

import os
import subprocess
import sys

_GUARD = """
import os, select, signal, sys
parent, server = int(sys.argv[1]), os.pidfd_open(int(sys.argv[2]))
while os.getppid() == parent:
    if select.select([server], [], [], 0.5)[0]:
        sys.exit()
signal.pidfd_send_signal(server, signal.SIGKILL)
"""
"""Ends with the server, and kills the server when its own parent is gone."""


def end_with_this_process(pid: int) -> None:
    """Start a guard that kills a process as soon as this one is gone, also after `kill -9`.

    A death signal of the kernel would not do: it is sent when the thread ends that started the process.
    """
    command = [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid()), str(pid)]
    # In a session of its own, Ctrl-C does not reach the guard. It needs no terminal and holds no pipe open.
    silent = subprocess.DEVNULL
    subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)
