"""Read the training and the test table, here and in scripts."""

from pathlib import Path
from typing import Any

import pandas as pd

from sandmill.kinds.files.base import Layout
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both tables: ids and classes as text, an empty cell as a missing one."""
    exact = {facts.id_column: str} | (dict.fromkeys(facts.target_columns, str) if facts.classes else {})
    reading: dict[str, Any] = {"dtype": exact, "keep_default_na": False, "na_values": [""]}
    train, test = files(facts)
    return pd.read_csv(folder / train, **reading), pd.read_csv(folder / test, **reading)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script, which knows the names ID and TARGET."""
    is_named = facts.classes and not (facts.is_binary or facts.is_wide or len(facts.target_columns) > 1)
    types = "{ID: str, TARGET: str}" if is_named else "{ID: str}"
    train, test = files(facts)
    return [
        'public = sys.argv[1] if len(sys.argv) > 1 else "public"',
        f'cells = {{"dtype": {types}, "keep_default_na": False, "na_values": [""]}}',
        f'train = pd.read_csv(f"{{public}}/{train}", **cells)',
        f'test = pd.read_csv(f"{{public}}/{test}", **cells)',
    ]


def files(facts: TaskFacts) -> tuple[str, str]:
    """Return the file names of the training table and of the test table."""
    layout: Layout = kind_named(facts.kind).load("layout")
    return layout.train, layout.test
