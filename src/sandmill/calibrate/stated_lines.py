"""Stated facts, and the forms of a rule, as lines of pandas: scripts hold them, and readers' tables are made by them.

The insight script is the reference where no text states a fact. Its table has the true features of the rule, whose
weights are left to a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.conditions import run_source
from sandmill.calibrate.readers import Stated, levels_of
from sandmill.calibrate.solvers.table import MEASURE, Table
from sandmill.kinds.script_text import listed, number, quoted
from sandmill.mechanism.columns import center_and_scale
from sandmill.mechanism.rule import EARTH_KM, LEAST_KM
from sandmill.models import motifs
from sandmill.models.columns import Categorical, ChildTable, Column, Date, LogNormal
from sandmill.models.faults import MixedTypes
from sandmill.models.hints import Form, InText, SameUnits, Sentinel, Units
from sandmill.models.kind import kind_named
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Aggregate, CodeValue, Condition, Conditional, Distance, Formula, NormDistance
from sandmill.models.package import TaskFacts

_SKEWED = 1.0
"""Skewness of a positive column from which its logarithm is used."""
_DIGITS, _DIGITS_OF_FORMS = 12, 8
"""Significant digits of the numbers of stated facts, and of those of an insight script."""
OF_LEVEL = "where"
"""Word in the names of slopes that belong to a level."""
_DECODE = "Turn codes and notes into what they stand for."


def decoding_lines(stated: Stated, train: pd.DataFrame) -> list[str]:
    """Write how cells become what they stand for: values in texts, sentinels, units.

    Returns:
        Statements about a data frame `df`; none if nothing is coded.
    """
    told = [fact for fact in stated.facts if isinstance(fact, InText)]
    lines = [line for fact in told for line in _in_text(fact)]
    notes = dict.fromkeys(fact.notes for fact in told)
    lines += [f"df = df.drop(columns={listed(notes)})"] if notes else []
    for fact in stated.facts:
        match fact:
            case Sentinel(column=name, value=value):
                lines.append(f"{_cell(name)} = {_cell(name)}.mask({_cell(name)} == {_exact(value)})")
            case Units():
                lines += _units(fact, stated.levels[fact.by])
    return [*_numbers_from_text(stated, train), *_names_of_codes(stated, train), *lines]


def form_lines(stated: Stated, decoded: pd.DataFrame) -> list[str]:
    """Write the stated quantities as further columns of a data frame `df`."""
    units = [line for fact in stated.facts if isinstance(fact, SameUnits) for line in _unit(fact)]
    forms = [fact for fact in stated.facts if isinstance(fact, Form)]
    return [*units, *(line for form in forms for line in _form(form, stated, decoded))]


def made_columns(stated: Stated) -> tuple[str, ...]:
    """Return the names of the columns that the form lines add."""
    units = tuple(fact.name for fact in stated.facts if isinstance(fact, SameUnits))
    return units + tuple(name for fact in stated.facts if isinstance(fact, Form) for name in _names(fact))


def child_block(stated: Stated) -> list[str]:
    """Write how the child table is read; nothing if no stated quantity needs it."""
    needed = any(isinstance(fact, Form) and isinstance(fact.motif, Aggregate) for fact in stated.facts)
    if not needed or not stated.child:
        return []
    return [f'events = pd.read_csv(f"{{public}}/{stated.child.path}", dtype={{ID: str}}, keep_default_na=False)']


def _in_text(fact: InText) -> list[str]:
    found = f"df[{quoted(fact.notes)}].str.extract({_raw(fact.pattern)}, expand=False)"
    if fact.levels:
        return [f'{_cell(fact.column)} = {found}.str.replace(" ", "_")']
    return [f"{_cell(fact.column)} = pd.to_numeric({found})"]


def _units(fact: Units, levels: Sequence[str]) -> list[str]:
    cell, by = _cell(fact.column), _cell(fact.by)
    lines = []
    changed = [place for place, pair in enumerate(zip(fact.factors, fact.offsets, strict=True)) if pair != (1, 0)]
    for pair in dict.fromkeys((fact.factors[place], fact.offsets[place]) for place in changed):
        there = [levels[place] for place in changed if (fact.factors[place], fact.offsets[place]) == pair]
        factor, offset = pair
        less = f"({cell} - {_exact(offset)})" if offset else cell
        lines.append(f"{cell} = {cell}.mask({by}.isin({listed(there)}), {less} / {_exact(factor)})")
    return lines


def _numbers_from_text(stated: Stated, train: pd.DataFrame) -> list[str]:
    """Read numbers that some rows of the file write with their unit, where a fact uses them as numbers."""
    used = dict.fromkeys(name for fact in stated.facts for name in _numeric_columns(fact))
    mixed = [name for name in used if name in train and not pd.api.types.is_numeric_dtype(train[name])]
    pattern = f'r"^{MEASURE.pattern}$"'
    read = "{0} = pd.to_numeric({0}.astype(str).str.extract({1}, expand=False))"
    return [read.format(_cell(name), pattern) for name in mixed]


def _names_of_codes(stated: Stated, train: pd.DataFrame) -> list[str]:
    """Name the levels that are measured as their place in the list: facts and models know them by name."""
    lines = []
    for name in [cue.column for cue in stated.cues if cue.column in stated.levels and cue.column in train]:
        levels = stated.levels[name]
        if train[name].isin(range(len(levels))).all():
            lines.append(f"{_cell(name)} = {_cell(name)}.map(dict(enumerate({listed(levels)})))")
    return lines


def _numeric_columns(fact: object) -> Iterator[str]:
    match fact:
        case Sentinel(column=name) | Units(column=name):
            yield name
        case Form(motif=Formula(top=top, bottom=bottom)):
            yield from (name for part in (*top, *bottom) for name in part)
        case Form(motif=NormDistance(column=name)):
            yield name
        case Form(motif=Distance(start=start, end=end)):
            yield from (*start, *end)
        case Form(motif=Conditional(column=name, when=when)):
            yield from (part.column for part in when if not part.levels)
            yield from (name,) if name else ()


def _names(form: Form) -> tuple[str, ...]:
    match form.motif:
        case Conditional(column=str()):
            return (form.name, f"{form.name}_holds")
        case _:
            return (form.name,)


def _form(form: Form, stated: Stated, decoded: pd.DataFrame) -> Iterator[str]:
    made = _cell(form.name)
    match form.motif:
        case Formula() as formula:
            yield from _formula(made, formula)
        case NormDistance(column=name, by=by, norms=norms):
            table = _mapping(dict(zip(stated.levels[by], norms, strict=True)))
            scale = partial(_scaled, is_log=is_skewed(decoded[name]))
            yield f"{made} = ({scale(_cell(name))} - {scale(f'{_cell(by)}.map({table})')}).abs()"
        case CodeValue(column=name, values=values):
            yield f"{made} = {_cell(name)}.map({_mapping(dict(zip(stated.levels[name], values, strict=True)))})"
        case Conditional(column=name, when=when):
            holds = " & ".join(_condition(part, stated.levels) for part in when)
            flag = _cell(f"{form.name}_holds") if name else made
            yield f"{flag} = ({holds}).astype(float)"
            if name:
                scale = partial(_scaled, is_log=is_skewed(decoded[name]))
                inside = scale(_cell(name)), scale(f"train[{quoted(name)}]")
                yield f"{made} = {flag} * ({inside[0]} - {inside[1]}.mean())"
        case Distance() as distance:
            yield from _distance(made, distance)
        case Aggregate() as motif if stated.child:
            yield from aggregate_lines(form.name, motif, stated.child)


def _unit(fact: SameUnits) -> Iterator[str]:
    """Name the unit of a row. Models give each unit a level of its own, drawn towards that of all rows."""
    place, number = (f"{_cell(name)}.astype(str)" for name in fact.columns)
    yield f'{_cell(fact.name)} = {place} + " " + {number}'


def _distance(made: str, motif: Distance) -> Iterator[str]:
    """Write the haversine formula in kilometres."""
    (latitude, longitude), (other_latitude, other_longitude) = motif.start, motif.end
    yield f"north = np.radians({_cell(other_latitude)} - {_cell(latitude)}) / 2"
    yield f"east = np.radians({_cell(other_longitude)} - {_cell(longitude)}) / 2"
    yield f"cosines = np.cos(np.radians({_cell(latitude)})) * np.cos(np.radians({_cell(other_latitude)}))"
    yield "half = np.sin(north) ** 2 + cosines * np.sin(east) ** 2"
    yield f"kilometres = {_exact(2 * EARTH_KM)} * np.arcsin(np.sqrt(half))"
    if motif.above is not None:
        yield f"{made} = (kilometres > {_exact(motif.above)}).astype(float).where(kilometres.notna())"
    elif motif.norm is not None:
        yield f"{made} = np.log(kilometres.clip(lower={_exact(LEAST_KM)}) / {_exact(motif.norm)}).abs()"
    else:
        yield f"{made} = np.log1p(kilometres)"


def _formula(made: str, formula: Formula) -> Iterator[str]:
    below = f" / {_product(formula.bottom, nested=True)}" if formula.bottom else ""
    yield f"quotient = {_product(formula.top)}{below}"
    if formula.above is not None:
        yield f"{made} = (quotient > {_exact(formula.above)}).astype(float).where(quotient.notna())"
    elif formula.norm is not None:
        yield f"{made} = np.log(quotient / {_exact(formula.norm)}).abs()"
    else:
        yield f"{made} = np.log(quotient)"


def _condition(part: Condition, levels: Mapping[str, tuple[str, ...]]) -> str:
    if part.levels:
        return f"{_cell(part.column)}.isin({listed(levels[part.column][code] for code in part.levels)})"
    if part.above is not None:
        return f"({_cell(part.column)} > {_exact(part.above)})"
    return f"({_cell(part.column)} <= {_exact(part.at_most or 0.0)})"


def _product(factors: Sequence[tuple[str, ...]], *, nested: bool = False) -> str:
    parts = [" + ".join(map(_cell, names)) for names in factors]
    text = " * ".join(f"({part})" if " + " in part and len(parts) > 1 else part for part in parts)
    is_simple = len(parts) == 1 and " + " not in parts[0]
    return f"({text})" if (nested and not is_simple) or (len(parts) == 1 and not is_simple) else text


def _scaled(expression: str, *, is_log: bool) -> str:
    return f"np.log({expression})" if is_log else expression


def is_skewed(cells: pd.Series) -> bool:
    """Whether a column of numbers is positive and skewed, so that its logarithm is used."""
    values = cells.dropna().to_numpy(dtype=float)
    if not len(values):
        return False
    return bool((values > 0).all() and ((values - values.mean()) ** 3).mean() > _SKEWED * values.std() ** 3)


def _mapping(values: Mapping[str, float]) -> str:
    return "{" + ", ".join(f"{quoted(level)}: {_exact(value)}" for level, value in values.items()) + "}"


def _cell(name: str) -> str:
    return f"df[{quoted(name)}]"


def _raw(pattern: str) -> str:
    return f'r"{pattern}"' if '"' not in pattern and not pattern.endswith("\\") else repr(pattern)


def _exact(value: float) -> str:
    return number(value, _DIGITS)


def aggregate_lines(name: str, motif: Aggregate, child: ChildTable) -> list[str]:
    """Write a summary of the events of each row as a column of a data frame `df`."""
    amount, age = quoted(child.amount), quoted(child.age)
    kind = f"events[{quoted(child.kind)}].isin({listed(child.kinds[code] for code in motif.kinds)})"
    recent = f"events[{age}] <= {motif.days}"
    chosen = [kind] if motif.kinds else []

    def total(*conditions: str) -> str:
        return f"df[ID].map({_events(conditions)}.groupby(ID)[{amount}].sum()).fillna(0)"

    window = [*chosen, *([recent] if motif.days else [])]
    match motif.how:
        case "sum":
            made = f"np.log1p({total(*window)})"
        case "count":
            made = f"df[ID].map({_events(window)}.groupby(ID).size()).fillna(0)"
        case "mean":
            made = f"np.log1p(df[ID].map({_events(window)}.groupby(ID)[{amount}].mean()).fillna(0))"
        case "share":
            days = [recent] if motif.days else []
            made = f"({total(*window)} / {total(*days)}).fillna(0)"
        case "trend":
            made = f"np.log1p({total(*window)}) - np.log1p({total(*chosen, f'events[{age}] > {motif.days}')})"
        case "recency":
            made = f"df[ID].map({_events(window)}.groupby(ID)[{age}].min()).fillna({child.horizon})"
    return [f"df[{quoted(name)}] = {made}"]


def _events(conditions: Sequence[str]) -> str:
    """Name the events that meet all conditions."""
    if not conditions:
        return "events"
    return f"events[{conditions[0] if len(conditions) == 1 else ' & '.join(f'({part})' for part in conditions)}]"


def rewritten(table: Table, folder: Path, stated: Stated, earlier: Table | None) -> Table:
    """Make the table of a reader from the files of another table."""
    return reader_table(table.facts, folder, stated, earlier)


def reader_table(facts: TaskFacts, folder: Path, stated: Stated, earlier: Table | None) -> Table:
    """Make the table of a reader, which keeps the lines that a script needs to make the same."""
    kind = kind_named(facts.kind)
    if stated.cues:
        train, test = kind.load("measures").read(folder, facts, stated.cues)
    else:
        train, test = kind.load("reader").read(folder, facts)
    names = _names_of(folder, facts, train, test)
    decoding = _function("decode", _DECODE, decoding_lines(stated, train))
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


def _names_of(folder: Path, facts: TaskFacts, train: Any, test: Any) -> dict[str, Any]:
    """Return what the lines of a script may refer to."""
    known: dict[str, Any] = {"re": re, "pd": pd, "np": np, "public": str(folder), "ID": facts.id_column}
    return known | {"train": train, "test": test}


def _function(name: str, purpose: str, lines: list[str], result: str = "df") -> list[str]:
    if not lines and result == "df":
        return []
    body = [f'    """{purpose}"""', "    df = df.copy()", *(f"    {line}" for line in lines), f"    return {result}"]
    return [f"def {name}(df):", *body, "", "", f"train, test = {name}(train), {name}(test)"]


def insight_table(folder: Path, facts: TaskFacts, mechanism: Mechanism, stated: Stated | None = None) -> Any:
    """Make the table whose columns are the features of the rule, in their true form and without weights.

    Its lines read public files only, so that they can stand in a script. Columns that no feature needs are left out.
    Cells that stated facts explain are decoded first.

    Returns:
        A `solvers.table.Table`.
    """
    train, test = kind_named(facts.kind).load("reader").read(folder, facts)
    names = _names_of(folder, facts, train, test)
    lines = _function("decode", _DECODE, decoding_lines(stated or Stated(()), train))
    _run(lines, names)
    added = insight_lines(mechanism, names["train"])
    _run(added, names)
    made = Table.of(names["train"], names["test"], facts)
    made.reading = (*lines, *added)
    return made


def insight_lines(mechanism: Mechanism, train: Any) -> list[str]:
    """Write what replaces the columns of the tables by the features of the rule."""
    forms, stated = _Forms(mechanism), _stated(mechanism)
    made = list(dict.fromkeys(line for term in mechanism.terms for line in forms.lines(term.motif)))
    made += form_lines(stated, train)
    dropped = [column.name for column in mechanism.columns if column.name not in forms.kept]
    result = f'df.drop(columns={listed(dropped)}, errors="ignore")'
    purpose = "Replace the columns by the quantities that matter."
    return [*child_block(stated), *_function("add_insight", purpose, made, result)]


def _stated(mechanism: Mechanism) -> Stated:
    """Return the forms that texts of other tasks state, as if they were stated."""
    found = [term.motif for term in mechanism.terms if isinstance(term.motif, motifs.StatedForm)]
    facts = tuple(Form(name=f"form_{place}", motif=motif) for place, motif in enumerate(found, start=1))
    return Stated(facts, levels_of(mechanism), mechanism.child)


class _Forms:
    """Features of one mechanism as statements about a data frame `df`."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._columns: Mapping[str, Column] = mechanism.column_by_name
        self._subgroup = mechanism.subgroup
        self._mixed = {fault.column for fault in mechanism.pathologies if isinstance(fault, MixedTypes)}
        self.kept: set[str] = set()
        """Columns of the files that stay as they are."""

    def lines(self, motif: motifs.Motif) -> Iterator[str]:
        """Write one motif. Effects of levels need no line: models encode categories."""
        match motif:
            case motifs.Linear(column=name) if isinstance(self._columns[name].distribution, LogNormal):
                yield f"{_made('log_of', name)} = {self._log(name)}"
            case motifs.Linear(column=name) | motifs.Lookup(column=name):
                self.kept.add(name)
            case motifs.LocalRule(column=name) if self._subgroup:
                # The level says how likely a row is in the hidden subgroup
                yield from self._slopes(name, self._subgroup.by)
            case motifs.UnitEffect():
                return
            case motifs.Curve(column=name):
                yield f"{_made('square_of', name)} = ({self._score(name)}) ** 2"
            case motifs.Saturation(column=name, steepness=steepness):
                yield f"{_made('level_of', name)} = np.tanh({_short(steepness)} * ({self._score(name)}))"
            case motifs.Threshold(column=name, cut=cut):
                cell = self._number(name)
                yield f"{_made('step_of', name)} = ({cell} > {_short(cut)}).astype(float).mask({cell}.isna())"
            case motifs.BetweenCuts(column=name, low=low, high=high):
                cell = self._number(name)
                inside = f'{cell}.between({_short(low)}, {_short(high)}, inclusive="right")'
                yield f"{_made('window_of', name)} = {inside}.astype(float).mask({cell}.isna())"
            case motifs.Periodic(column=name, period=period):
                turn = f"2 * np.pi * {self._number(name)} / {_short(period)}"
                yield from (f"{_made(f'{wave}_of', name)} = np.{wave}({turn})" for wave in ("sin", "cos"))
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
                cuts = f"[{', '.join(map(_short, starts))}]"
                place = f"pd.Series(np.searchsorted({cuts}, {self._number(name)}), index=df.index)"
                yield f'{_made("period_of", name)} = "period " + {place}.astype(str)'
            case _:
                return

    def _slopes(self, name: str, by: str) -> Iterator[str]:
        law = self._columns[by].distribution
        assert isinstance(law, Categorical)
        for level in law.levels:
            inside = f"({_cell(by)} == {quoted(level)})"
            yield f"{_made(name, OF_LEVEL, by, level)} = ({self._score(name)}).where({inside}, 0.0)"

    def _number(self, name: str) -> str:
        """A column as numbers: dates are days, and units behind numbers are cut off."""
        law = self._columns[name].distribution
        if isinstance(law, Date):
            return f'(pd.to_datetime({_cell(name)}, errors="coerce") - pd.Timestamp("{law.first}")).dt.days'
        if name in self._mixed:
            text = f'{_cell(name)}.astype("string").str.extract(r"^\\s*([-+.\\deE]+)", expand=False)'
            return f'pd.to_numeric({text}, errors="coerce").astype(float)'
        return _cell(name)

    def _log(self, name: str) -> str:
        return f"np.log({self._number(name)}.clip(lower=1e-9))"

    def _score(self, name: str) -> str:
        """A column on the scale on which the rule compares it with others."""
        law = self._columns[name].distribution
        if isinstance(law, LogNormal):
            return f"({self._log(name)} - {_short(float(np.log(law.median)))}) / {_short(law.sigma)}"
        center, scale = center_and_scale(self._columns[name])
        return f"({self._number(name)} - {_short(center)}) / {_short(scale)}"


def _made(*words: str) -> str:
    return _cell("_".join(word.replace(" ", "_") for word in words))


def _text(name: str) -> str:
    return f"{_cell(name)}.astype(str)"


def _short(value: float) -> str:
    return number(value, _DIGITS_OF_FORMS)
