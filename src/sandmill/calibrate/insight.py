"""The insight script: a table of the true features, written as lines of pandas, whose weights are left to a model."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sandmill.calibrate.conditions import run_source
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.stated_lines import child_block, form_lines
from sandmill.kinds.script_text import listed, number, quoted
from sandmill.models import motifs
from sandmill.models.columns import Categorical, Column, Cycle, Date, Identity, LogNormal, Normal, Quantiles, Uniform
from sandmill.models.faults import MixedTypes
from sandmill.models.hints import Form
from sandmill.models.kind import kind_named
from sandmill.models.mechanism import Mechanism
from sandmill.models.package import TaskFacts

_STATED = (motifs.Formula, motifs.Conditional, motifs.NormDistance, motifs.CodeValue, motifs.Aggregate, motifs.Distance)
_DIGITS = 8
"""Significant digits of the numbers of a form."""


def insight_table(folder: Path, facts: TaskFacts, mechanism: Mechanism) -> Any:
    """Make the table whose columns are the features of the rule, in their true form and without weights.

    Its lines read public files only, so that they can stand in a script. Columns that no feature needs are left out.

    Args:
        folder: holds the public files.
        facts: what the description says.
        mechanism: of the task. Its weights and effects are not read.

    Returns:
        A `solvers.table.Table`.
    """
    import pandas as pd

    from sandmill.calibrate.solvers.table import Table

    train, test = kind_named(facts.kind).load("reader").read(folder, facts)
    lines = insight_lines(mechanism, train)
    names: dict[str, Any] = {"pd": pd, "np": np, "train": train, "test": test}
    names |= {"public": str(folder), "ID": facts.id_column}
    run_source("\n".join(lines), names)
    made = Table.of(names["train"], names["test"], facts)
    made.reading = tuple(lines)
    return made


def insight_lines(mechanism: Mechanism, train: Any) -> list[str]:
    """Write what replaces the columns of the tables by the features of the rule.

    Args:
        mechanism: of the task.
        train: training rows as read from their file.
    """
    forms, stated = _Forms(mechanism), _stated(mechanism)
    made = list(dict.fromkeys(line for term in mechanism.terms for line in forms.lines(term.motif)))
    made += form_lines(stated, train)
    dropped = [column.name for column in mechanism.columns if column.name not in forms.kept]
    body = [
        '"""Replace the columns by the quantities that matter."""',
        "df = df.copy()",
        *made,
        f'return df.drop(columns={listed(dropped)}, errors="ignore")',
    ]
    adding = ["def add_insight(df):", *(f"    {line}" for line in body)]
    return [*child_block(stated), *adding, "", "", "train, test = add_insight(train), add_insight(test)"]


def _stated(mechanism: Mechanism) -> Stated:
    """Return the forms that texts of other tasks state, as if they were stated."""
    laws = {column.name: column.distribution for column in mechanism.columns}
    levels = {name: law.levels for name, law in laws.items() if isinstance(law, Categorical)}
    found = [term.motif for term in mechanism.terms if isinstance(term.motif, _STATED)]
    facts = tuple(Form(name=f"form_{place}", motif=motif) for place, motif in enumerate(found, start=1))
    return Stated(facts, levels, mechanism.child)


class _Forms:
    """Features of one mechanism as statements about a data frame `df`."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._columns: Mapping[str, Column] = mechanism.column_by_name
        self._mixed = {fault.column for fault in mechanism.pathologies if isinstance(fault, MixedTypes)}
        self.kept: set[str] = set()
        """Columns of the files that stay as they are."""

    def lines(self, motif: motifs.Motif) -> Iterator[str]:
        """Write one motif. Effects of levels need no line: models encode categories."""
        match motif:
            case motifs.Linear(column=name) | motifs.Lookup(column=name) | motifs.LocalRule(column=name):
                self.kept.add(name)
            case motifs.UnitEffect():
                return
            case motifs.Curve(column=name):
                yield f"{_made('square_of', name)} = ({self._score(name)}) ** 2"
            case motifs.Saturation(column=name, steepness=steepness):
                yield f"{_made('level_of', name)} = np.tanh({_exact(steepness)} * ({self._score(name)}))"
            case motifs.Threshold(column=name, cut=cut):
                cell = self._cell(name)
                yield f"{_made('step_of', name)} = ({cell} > {_exact(cut)}).astype(float).mask({cell}.isna())"
            case motifs.BetweenCuts(column=name, low=low, high=high):
                cell = self._cell(name)
                inside = f'{cell}.between({_exact(low)}, {_exact(high)}, inclusive="right")'
                yield f"{_made('window_of', name)} = {inside}.astype(float).mask({cell}.isna())"
            case motifs.Periodic(column=name, period=period):
                for wave in ("sin", "cos"):
                    yield f"{_made(f'{wave}_of', name)} = np.{wave}(2 * np.pi * {self._cell(name)} / {_exact(period)})"
            case motifs.Ratio(numerator=top, denominator=bottom):
                yield f"{_made(top, 'per', bottom)} = {self._log(top)} - {self._log(bottom)}"
            case motifs.Difference(left=left, right=right):
                yield f"{_made(left, 'less', right)} = {self._score(left)} - ({self._score(right)})"
            case motifs.Interaction(left=left, right=right):
                yield f"{_made(left, 'times', right)} = ({self._score(left)}) * ({self._score(right)})"
            case motifs.Bottleneck(left=left, right=right):
                yield f"{_made('least_of', left, right)} = np.minimum({self._score(left)}, {self._score(right)})"
            case motifs.CrossedLookup(left=left, right=right) | motifs.KnownUnit(left=left, right=right):
                yield f'{_made(left, "and", right)} = {_text(left)} + " and " + {_text(right)}'
            case motifs.VaryingSlope(column=name, by=by):
                yield from self._slopes(name, by)
            case motifs.Drift(column=name, starts=starts):
                cuts = f"[{', '.join(map(_exact, starts))}]"
                place = f"pd.Series(np.searchsorted({cuts}, {self._cell(name)}), index=df.index)"
                yield f'{_made("period_of", name)} = "period " + {place}.astype(str)'
            case _:
                return

    def _slopes(self, name: str, by: str) -> Iterator[str]:
        law = self._columns[by].distribution
        assert isinstance(law, Categorical)
        for level in law.levels:
            inside = f"({_column(by)} == {quoted(level)})"
            yield f"{_made(name, 'where', by, level)} = ({self._score(name)}).where({inside}, 0.0)"

    def _cell(self, name: str) -> str:
        """A column as numbers: dates are days, and units behind numbers are cut off."""
        law = self._columns[name].distribution
        if isinstance(law, Date):
            return f'(pd.to_datetime({_column(name)}, errors="coerce") - pd.Timestamp("{law.first}")).dt.days'
        if name in self._mixed:
            text = f'{_column(name)}.astype("string").str.extract(r"^\\s*([-+.\\deE]+)", expand=False)'
            return f'pd.to_numeric({text}, errors="coerce").astype(float)'
        return _column(name)

    def _log(self, name: str) -> str:
        return f"np.log({self._cell(name)}.clip(lower=1e-9))"

    def _score(self, name: str) -> str:
        """A column on the scale on which the rule compares it with others."""
        law = self._columns[name].distribution
        if isinstance(law, LogNormal):
            return f"({self._log(name)} - {_exact(float(np.log(law.median)))}) / {_exact(law.sigma)}"
        center, scale = _center_and_scale(self._columns[name])
        return f"({self._cell(name)} - {_exact(center)}) / {_exact(scale)}"


def _center_and_scale(column: Column) -> tuple[float, float]:
    """The numbers of `mechanism.columns.standardize`."""
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return mean, sd
        case Uniform(low=low, high=high):
            return (low + high) / 2, (high - low) / float(np.sqrt(12))
        case Cycle(first=first, period=period):
            return first + (period - 1) / 2, float(np.sqrt((period**2 - 1) / 12))
        case Date(days=days):
            return (days - 1) / 2, float(np.sqrt((days**2 - 1) / 12))
        case Identity(center=center, scale=scale) | Quantiles(center=center, scale=scale):
            return center, scale
        case _:
            return 0.0, 1.0


def _column(name: str) -> str:
    return f"df[{quoted(name)}]"


def _made(*words: str) -> str:
    return _column("_".join(word.replace(" ", "_") for word in words))


def _text(name: str) -> str:
    return f"{_column(name)}.astype(str)"


def _exact(value: float) -> str:
    return number(value, _DIGITS)
