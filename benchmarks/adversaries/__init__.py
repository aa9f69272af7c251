"""Frozen adversaries that judge whether a release must be read.

Each is a pure function of a public folder and the facts of its task. `digests.json` holds digests of their sources: a
version that a release was measured with is never changed, and a better one gets a new name.
"""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

SHARED = ("__init__.py", "lists.py", "pairs.py", "texts.py", "words.yaml")
SOURCES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "blind_v3": ("blind_v3.py", *SHARED),
        "parser_v4": ("guesses.py", "parser.py", *SHARED),
        "parser_induced_v3": ("induced.py", "guesses.py", "parser.py", *SHARED),
    }
)
"""Files that decide what an adversary answers, beside the solvers of the package."""
INDUCED = "parser_induced_v3"


def digest_of(name: str) -> str:
    """Return the digest of the files of an adversary."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"\0".join((folder / file).read_bytes() for file in SOURCES[name])).hexdigest()


def blind_v2(public: Path, facts: TaskFacts) -> Array:
    """Search quantities over the files alone, as calibration does."""
    from sandmill.calibrate.adversary import run_search
    from sandmill.calibrate.panel import Panel
    from sandmill.calibrate.solver_runs import child_tables

    files = {path.name: path.read_bytes() for path in public.glob("*.csv")}
    return run_search(Panel(public, facts), public, child_tables(files, facts)).prediction


def _averaged(public: Path, facts: TaskFacts) -> Array:
    """Average models over the forms that texts state. The module has the name of the adversary."""
    from benchmarks.adversaries.blind_v3 import blind_v3

    return blind_v3(public, facts)


def parser_v4(public: Path, facts: TaskFacts) -> Array:
    """Read the texts by rules that were written with the generator's sources at hand."""
    from benchmarks.adversaries.parser import parse

    return _read(public, facts, parse)


def with_patterns(patterns: Sequence[Any]) -> Callable[[Path, TaskFacts], Array]:
    """Return `parser_induced_v3` with the patterns that training tasks gave."""
    from benchmarks.adversaries.induced import parse_with

    return lambda public, facts: _read(public, facts, lambda doc: parse_with(doc, patterns))


def _read(public: Path, facts: TaskFacts, parse: Callable[[Any], Any]) -> Array:
    from benchmarks.adversaries.texts import Doc
    from sandmill.calibrate.adversary.judge import answer
    from sandmill.calibrate.solvers.table import Table
    from sandmill.calibrate.stated_lines import rewritten

    table = Table.read(public, facts)
    try:
        table = rewritten(table, public, parse(Doc.read(public, facts)), None)
    except Exception as error:  # noqa: BLE001
        warnings.warn(f"facts misread, so the data alone are used: {error!r}", stacklevel=2)
    return answer(table)


ADVERSARIES: Mapping[str, Callable[[Path, TaskFacts], Array]] = MappingProxyType(
    {"blind_v2": blind_v2, "blind_v3": _averaged, "parser_v4": parser_v4}
)
"""Adversaries that need nothing but the public folder; `with_patterns` makes one from training tasks."""
