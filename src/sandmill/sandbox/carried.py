"""Scratch folders that travel with a remote run: read one, write one, and apply the changes of a run.

Names of files come from the agent's code. All files are opened without following links.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sandmill.errors import shorten
from sandmill.models.remote import DEEPEST_PATH, LONGEST_PATH_BYTES, ScratchChanges, ScratchEntry
from sandmill.sandbox import exchange
from sandmill.sandbox.exchange import MADE_BY_EACH_RUN, READ, WRITE, make_folder

MOST_NAME_BYTES = 8 << 20
"""Most bytes that all entries without their contents can take in JSON. One call encodes or decodes them, during which
no other thread of the process goes on."""
_ENTRY_BYTES = 48
"""Bytes of an entry in a message without path and content."""
_JSON_GROWTH = 6
"""Most bytes of JSON for one character, as in `\\u0000`."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Carried:
    """Files and folders of a scratch folder, and what was left out."""

    entries: list[ScratchEntry] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Paths that are too large, too deep, or whose names are not text."""


def hashes_of(entries: Iterable[ScratchEntry]) -> dict[str, bytes]:
    """Return a hash of each content by path; empty for a folder."""
    return {entry.path: b"" if entry.content is None else hashlib.sha256(entry.content).digest() for entry in entries}


def skipped_note(skipped: Sequence[str], what: str) -> str:
    """Return the message of `exchange.skipped_note` for these paths."""
    return exchange.skipped_note(len(skipped), what, shorten(skipped[0]) if skipped else "")


def read_scratch(folder: Path, most_bytes: int, most_entries: int) -> Carried:
    """Read all regular files and folders, in the order of their paths, within the limits.

    `most_bytes` limits the contents and the paths together. A path counts as much as it can take in JSON, and all
    paths together have a limit of their own.
    """
    carried, left, names_left = Carried(), most_bytes, MOST_NAME_BYTES
    for path, status in _walk(folder, ""):
        is_folder = stat.S_ISDIR(status.st_mode)
        if not (is_folder or stat.S_ISREG(status.st_mode)) or path in MADE_BY_EACH_RUN:
            continue
        name_bytes = _ENTRY_BYTES + _JSON_GROWTH * len(path)
        content = None
        if len(carried.entries) < most_entries and _is_text(path) and name_bytes <= min(left, names_left):
            content = b"" if is_folder else _read(folder / path, left - name_bytes)
        if content is None:
            carried.skipped.append(path)
            continue
        left -= name_bytes + len(content)
        names_left -= name_bytes
        carried.entries.append(ScratchEntry(path=path, content=None if is_folder else content))
    return carried


def write_scratch(folder: Path, entries: Iterable[ScratchEntry]) -> list[str]:
    """Write files and folders. An existing file is replaced. Returns the paths that could not be written."""
    failed = []
    for entry in entries:
        try:
            _write(folder, entry)
        except OSError:
            failed.append(entry.path)
    return failed


def changes_of(before: dict[str, bytes], after: Carried) -> ScratchChanges:
    """Compare a scratch folder with the hashes of its files before the run. A skipped file counts as removed."""
    now = hashes_of(after.entries)
    written = tuple(entry for entry in after.entries if before.get(entry.path) != now[entry.path])
    return ScratchChanges(written=written, removed=tuple(path for path in before if path not in now))


def apply_changes(folder: Path, changes: ScratchChanges, sent: Iterable[str]) -> list[str]:
    """Apply the changes of a run to the caller's folder. Returns the paths that could not be written.

    Only paths that were sent can be removed.
    """
    own = set(sent)
    for path in sorted(own.intersection(changes.removed), key=lambda path: path.count("/"), reverse=True):
        *above, name = path.split("/")
        with suppress(OSError), ExitStack() as stack:
            _clear(_open_parent(stack, folder, above, makes=False), name)
    return write_scratch(folder, changes.written)


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    if prefix.count("/") >= DEEPEST_PATH:
        return
    try:
        with os.scandir(folder / prefix) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            path = f"{prefix}{entry.name}"
            yield path, status
            if stat.S_ISDIR(status.st_mode) and (prefix or entry.name not in MADE_BY_EACH_RUN):
                yield from _walk(folder, f"{path}/")


def _is_text(path: str) -> bool:
    try:
        return len(path.encode()) <= LONGEST_PATH_BYTES and path.count("/") < DEEPEST_PATH
    except UnicodeEncodeError:
        return False


def _read(path: Path, most_bytes: int) -> bytes | None:
    try:
        with os.fdopen(os.open(path, READ), "rb") as file:
            content = file.read(most_bytes + 1)
    except OSError:
        return None
    return content if len(content) <= most_bytes else None


def _write(folder: Path, entry: ScratchEntry) -> None:
    *above, name = entry.path.split("/")
    with ExitStack() as stack:
        parent = _open_parent(stack, folder, above, makes=True)
        if entry.content is None:
            make_folder(parent, name)
            return
        with suppress(FileNotFoundError):
            _clear(parent, name)
        with os.fdopen(os.open(name, WRITE, 0o644, dir_fd=parent), "wb") as file:
            file.write(entry.content)


def _clear(parent: int, name: str) -> None:
    """Remove a file or an empty folder."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        os.rmdir(name, dir_fd=parent)


def _open_parent(stack: ExitStack, folder: Path, above: list[str], makes: bool) -> int:
    parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, parent)
    for name in above:
        if makes:
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=parent)
        parent = os.open(name, _FOLDER, dir_fd=parent)
        stack.callback(os.close, parent)
    return parent
