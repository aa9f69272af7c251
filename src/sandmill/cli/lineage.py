"""Show the lineage of a task for `sandmill show --lineage`."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sandmill.cli.screen import open_console
from sandmill.errors import shorten

if TYPE_CHECKING:
    from sandmill.store.lineage import TaskLineage

_SECTIONS = ("task", "seed", "design", "streams", "code", "run")
_LONGEST = 500


def print_lineage(found: "TaskLineage") -> None:
    """Print each section with its facts, then the files of the release and of the task with their hashes."""
    console = open_console()
    for section in _SECTIONS:
        console.print(f"\n{section}", style="bold")
        for name, value in _flat(getattr(found, section)):
            console.print(f"  {name:<18} {shorten(str(value), _LONGEST)}")
    console.print("\nshard", style="bold")
    for part in found.shard:
        console.print(f"  {part.sha256}  {part.path}")
    console.print("\nfiles", style="bold")
    for path, sha256 in found.files.items():
        console.print(f"  {sha256}  {path}")


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested facts with dotted names, without those that are not set."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif value not in (None, "", [], ()):
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else value
