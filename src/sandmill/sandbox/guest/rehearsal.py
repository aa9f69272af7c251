"""Memory that nearly every script touches, found by a rehearsal and made a run's own before there is a job.

A fork shares all memory with the warm interpreter, and each page that the script touches first costs a fault: some
thousands for the first model that it fits, which takes longer than a small model. A fork at the start fits models in
the warm interpreter's stead, says which pages it touched, and ends; a run that was forked ahead touches the same ones
while it waits. Nothing but addresses comes out of the rehearsal, so the warm interpreter still has fitted nothing.
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
"""First byte, number of bytes, whether they were written."""

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
_WAIT_MS = 30_000
_PAGE = os.sysconf("SC_PAGESIZE")
_PRESENT, _OF_FILE, _UNSHARED = 63, 61, 56
"""Bits of an entry of /proc/PID/pagemap."""
_SPANS_AT_ONCE = 64


def rehearse() -> list[Span]:
    """Give what a typical script touches of the memory that it inherits; nothing if that cannot be found out."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _play(writer)
    os.close(writer)
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    if not waiting.poll(_WAIT_MS):
        os.kill(pid, signal.SIGKILL)
    with open(reader, "rb") as file:
        told = file.read()
    os.waitpid(pid, 0)
    try:
        return [(low, size, is_written) for low, size, is_written in json.loads(told)]
    except ValueError:
        # It failed, or was killed while it spoke. A run is only slower without it.
        return []


def touch_ahead(spans: Iterable[Span], orders: socket.socket) -> None:
    """Touch what a script will touch, unless a job is there: then it is faster to begin."""
    waiting = select.poll()
    waiting.register(orders, select.POLLIN)
    for number, (low, size, is_written) in enumerate(spans):
        if number % _SPANS_AT_ONCE == 0 and waiting.poll(0):
            return
        kernel.populate(low, size, is_written)


def _play(writer: int) -> NoReturn:
    try:
        kernel.die_with_parent()
        before = _mapped()
        file = os.memfd_create("sandmill-rehearsal")
        rows = (f"{n},{n * 37 % 100 / 50},{n * 61 % 100 / 30},{n * 7 % 2}\n" for n in range(_ROWS))
        os.write(file, "".join(["id,a,b,label\n", *rows]).encode())
        exec(compile(_SCRIPT, "solution.py", "exec"), {"__name__": "__main__", "FILE": f"/proc/self/fd/{file}"})
        said = json.dumps(_find_touched(before)).encode()
        with open(writer, "wb") as pipe:
            pipe.write(said)
    finally:
        os._exit(0)


def _mapped() -> list[tuple[int, int, bool]]:
    """List first page, page behind the last, and whether it can be written, of all memory that has a name or none."""
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
    """Find pages of our own in what can be written, and pages that are there in the rest."""
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
