"""Find the memory pages that most scripts touch, and fault them in before a run has a job.

A fork shares its memory with the warm interpreter, so the first access to each page causes a page fault. The first fit
of a model causes thousands of faults, which take longer than a small fit. Therefore, at the start, one fork fits some
models, reports which pages it touched, and ends. Each run that is forked ahead touches the same pages while it waits
for its job. Only addresses leave the rehearsal, so the warm interpreter itself never fits a model.
"""

import array
import json
import os
import select
import signal
import socket
from collections.abc import Iterable
from typing import NoReturn

from sandmill.sandbox.guest import kernel

Span = tuple[int, int, bool]
"""A range of memory: first byte, number of bytes, whether it is writable."""

_SCRIPT = """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

table = pd.read_csv(FILE)
features = table.drop(columns=["id", "label"])
for model in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=3), RandomForestClassifier(5)):
    table["label"] = model.fit(features, table.label).predict_proba(features)[:, 1] > 0.5
    table[["id", "label"]].to_csv(FILE, index=False)
"""
_ROWS = 150
"""Rows of the table that the rehearsal fits."""
_WAIT_MS = 30_000
"""Time-out of the rehearsal, in milliseconds."""
_PAGE = os.sysconf("SC_PAGESIZE")
_PRESENT, _OF_FILE, _UNSHARED = 63, 61, 56
"""Bit numbers in an entry of /proc/PID/pagemap."""
_SPANS_PER_CHECK = 64
"""Ranges that are touched between two checks for a job."""


def rehearse() -> list[Span]:
    """Return the inherited memory that a typical script touches. Returns an empty list if the rehearsal fails."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _run_rehearsal(writer)
    os.close(writer)
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    if not waiting.poll(_WAIT_MS):
        os.kill(pid, signal.SIGKILL)
    with open(reader, "rb") as file:
        report = file.read()
    os.waitpid(pid, 0)
    try:
        return [(low, size, is_written) for low, size, is_written in json.loads(report)]
    except ValueError:
        # The rehearsal failed or was killed while it wrote. Runs are slower without it.
        return []


def touch_ahead(spans: Iterable[Span], job_socket: socket.socket) -> None:
    """Touch the memory that a script will touch. Stop when a job arrives, since starting it is then faster."""
    waiting = select.poll()
    waiting.register(job_socket, select.POLLIN)
    for number, (low, size, is_written) in enumerate(spans):
        if number % _SPANS_PER_CHECK == 0 and waiting.poll(0):
            return
        kernel.populate(low, size, is_written)


def _run_rehearsal(writer: int) -> NoReturn:
    """Run the script in this forked process, write the touched ranges to the pipe, and exit."""
    try:
        kernel.die_with_parent()
        before = _list_mappings()
        file = os.memfd_create("sandmill-rehearsal")
        rows = (f"{n},{n * 37 % 100 / 50},{n * 61 % 100 / 30},{n * 7 % 2}\n" for n in range(_ROWS))
        os.write(file, "".join(["id,a,b,label\n", *rows]).encode())
        exec(compile(_SCRIPT, "solution.py", "exec"), {"__name__": "__main__", "FILE": f"/proc/self/fd/{file}"})
        report = json.dumps(_find_touched(before)).encode()
        with open(writer, "wb") as pipe:
            pipe.write(report)
    finally:
        os._exit(0)


def _list_mappings() -> list[tuple[int, int, bool]]:
    """List readable mappings except special ones: first page, page after the last, and whether it is writable."""
    found = []
    with open("/proc/self/maps", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        place, rights, _, _, _, *name = line.split(maxsplit=5)
        low, high = (int(word, 16) // _PAGE for word in place.split("-"))
        is_special = bool(name) and name[0].startswith("[") and name[0] != "[heap]"
        if rights.startswith("r") and not is_special:
            found.append((low, high, rights[1] == "w"))
    return found


def _find_touched(areas: list[tuple[int, int, bool]]) -> list[Span]:
    """Find touched pages: private copies in writable mappings, and present pages in the others."""
    found: list[Span] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for low, high, is_writable in areas:
            file.seek(8 * low)
            entries = array.array("Q", file.read(8 * (high - low)))
            start = None
            for at, entry in enumerate([*entries, 0]):
                is_own = not entry >> _OF_FILE & 1 and entry >> _UNSHARED & 1
                is_touched = entry >> _PRESENT & 1 and (is_own or not is_writable)
                if is_touched and start is None:
                    start = at
                elif not is_touched and start is not None:
                    found.append(((low + start) * _PAGE, (at - start) * _PAGE, is_writable))
                    start = None
    return found
