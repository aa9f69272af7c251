"""What roles learn about a seed: its structure as facts, its texts as one quoted line of data."""

import json

from sandmill.models.seed import SeedTask
from sandmill.models.structure import SplitKind, Structure

LONGEST_TEXT = 500
"""Characters of a seed's text that are passed on; longer texts only cost money."""


def quote_seed(seed: SeedTask) -> str:
    """Return a seed's shortened title and summary as one line of JSON. Control characters are escaped."""
    return json.dumps({"title": _short(seed.title), "summary": _short(seed.summary)}, ensure_ascii=True)


def describe_structure(structure: Structure) -> str:
    """List what a design must preserve. The list holds numbers and fixed words only, no text of the seed."""
    faults = ", ".join(sorted(structure.pathologies)) or "none"
    lines = [
        f"modality: {structure.modality}",
        f"target: {structure.target}",
        f"classes: {structure.n_classes or '-'}",
        f"targets: {structure.n_targets}",
        f"metric: {structure.metric}",
        f"split: {structure.split or SplitKind.RANDOM}",
        f"columns: {structure.columns.numeric} numeric, {structure.columns.categorical} categorical, "
        f"{structure.columns.date} date",
        f"share of missing cells: {structure.missing_share:.2f}",
        f"faults of its data: {faults}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} ..."
