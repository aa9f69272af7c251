"""Rewrite the table of a task as a reader sees it, by the same lines that scripts hold."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.conditions import run_source
from sandmill.calibrate.readers.lines import child_block, decoding_lines, form_lines, made_columns
from sandmill.calibrate.readers.stated import Stated
from sandmill.calibrate.solvers.table import Table
from sandmill.models.kind import kind_named


def rewritten(table: Table, folder: Path, stated: Stated, earlier: Table | None) -> Table:
    """Make the table of a reader, which keeps the lines that a script needs to make the same."""
    facts = table.facts
    kind = kind_named(facts.kind)
    if stated.cues:
        train, test = kind.load("measures").read(folder, facts, stated.cues)
    else:
        train, test = kind.load("reader").read(folder, facts)
    names: dict[str, Any] = {"re": re, "pd": pd, "np": np, "public": str(folder), "ID": facts.id_column}
    names |= {"train": train, "test": test}
    purpose = "Turn codes and notes into what they stand for."
    decoding = _function("decode", purpose, decoding_lines(stated, train))
    _run(decoding, names)
    forms = form_lines(stated, pd.concat([names["train"], names["test"]]))
    adding = [*child_block(stated), *_function("add_stated", "Add the quantities that the description defines.", forms)]
    _run(adding, names)
    made = Table.of(names["train"], names["test"], facts)
    made.cues = stated.cues
    made.reading, made.stated = (*decoding, *adding), made_columns(stated)
    if earlier is not None and made.train.equals(earlier.train):
        made.learned = earlier.learned
    return made


def _run(lines: Sequence[str], names: dict[str, Any]) -> None:
    """Run lines. Logarithms of measures below 0 are missing cells and no reason for a warning."""
    with np.errstate(invalid="ignore", divide="ignore"):
        run_source("\n".join(lines), names)


def _function(name: str, purpose: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    body = [f'    """{purpose}"""', "    df = df.copy()", *(f"    {line}" for line in lines), "    return df"]
    return [f"def {name}(df):", *body, "", "", f"train, test = {name}(train), {name}(test)"]
