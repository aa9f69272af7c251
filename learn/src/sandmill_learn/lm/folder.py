"""The prepared folder: its files, large files in parts, and the log and the figures of a run."""

import gzip
import importlib.util
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

PART_BYTES = 35_000_000
"""Largest part of a file. Three parts of weights and the tables then travel in separate transfers."""
TABLES, LESSONS, FACTS = "tables.jsonl.gz", "lessons.jsonl.gz", "prepared.json"
METRICS, LOG, SAMPLES = "metrics.jsonl", "log.txt", "samples.jsonl"


def write_parts(path: Path, content: bytes) -> list[Path]:
    """Write a file as `NAME.00`, `NAME.01` and so on, none larger than `PART_BYTES`."""
    made = []
    for place, start in enumerate(range(0, len(content), PART_BYTES)):
        part = path.with_name(f"{path.name}.{place:02d}")
        part.write_bytes(content[start : start + PART_BYTES])
        made.append(part)
    return made


def read_parts(path: Path) -> bytes:
    """Read a file that may be in parts.

    Raises:
        FileNotFoundError: neither the file nor a first part exists.
    """
    if path.exists():
        return path.read_bytes()
    parts = sorted(path.parent.glob(f"{path.name}.[0-9][0-9]"))
    if not parts or [int(part.suffix[1:]) for part in parts] != list(range(len(parts))):
        raise FileNotFoundError(f"{path}: saw parts {[part.name for part in parts]}, expected .00, .01 and so on")
    return b"".join(part.read_bytes() for part in parts)


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as compressed JSON lines, in parts if they are large. Returns the number of bytes."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    content = gzip.compress(text.encode(), 9, mtime=0)
    write_parts(path, content)
    return len(content)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows of compressed JSON lines."""
    for line in gzip.decompress(read_parts(path)).decode().splitlines():
        yield json.loads(line)


def load_source(path: Path) -> ModuleType:
    """Import one file as a module of its own.

    Raises:
        ImportError: the file cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(f"lm_borrowed_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported; prepare the folder again")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by its name.
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Record:
    """The log and the figures of one run. Every line is on disk as soon as it is written."""

    out: Path
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def say(self, text: str) -> None:
        """Print a line with the seconds since the start, and append it to the log."""
        line = f"[{self.seconds:7.1f}] {text}"
        print(line, flush=True)
        with (self.out / LOG).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def add(self, phase: str, name: str = METRICS, /, **figures: Any) -> None:
        """Append one row of figures."""
        row = {"phase": phase, "seconds": round(self.seconds, 2), **figures}
        with (self.out / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, default=_plain) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a small result as a whole file."""
        (self.out / name).write_text(text, encoding="utf-8")


def _plain(value: Any) -> Any:
    """Turn numbers of numpy and torch into plain ones."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
