"""Frozen adversaries that judge whether a release must be read.

Each is a pure function of a public folder and the facts of its task. `digests.json` holds the digest of its source: a
version that a release was measured with is never changed, and a better one gets a new name.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.adversaries.solving import answer
from benchmarks.adversaries.texts import Doc
from sandmill.calibrate.adversary import blind_v1
from sandmill.calibrate.solvers.table import Table
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array


def blind_v2(public: Path, facts: TaskFacts) -> Array:
    """Search quantities over the files alone."""
    from benchmarks.adversaries.blind import found_tables

    doc = Doc.read(public, facts)
    found, plain = found_tables(doc)
    return answer(found, (blind_v1(plain, doc.child_frames), plain))


def parser_v1(public: Path, facts: TaskFacts) -> Array:
    """Read the texts by rules that were written with the generator's sources at hand."""
    from benchmarks.adversaries.parser import parse
    from sandmill.calibrate.stated_lines import rewritten

    stated = parse(Doc.read(public, facts))
    return answer(rewritten(Table.read(public, facts), public, stated, None))
