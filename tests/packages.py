"""A healthy hand-made package of every kind, and ways to break it for each thing that a check must see."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from sandmill.check.gates import check_package
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column, Date, Normal, Unit
from sandmill.models.faults import Duplicates, Missing, MixedTypes, Pathology
from sandmill.models.links import (
    BinaryLink,
    CountLink,
    GaussianLink,
    Link,
    MulticlassLink,
    MultilabelLink,
    NumbersLink,
    OrdinalLink,
    class_names,
    output_count,
)
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Drift, Interaction, Linear, Motif, Term, Threshold, UnitEffect
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import Sizes, Story, TaskSpec
from sandmill.models.structure import MetricName, Modality, SplitKind, Structure, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.support import ANSWER_FORMS

TRAIN_ROWS, PART_ROWS = 100, 300
SECRET_CUT, SECRET_START = 61.375, 211.5
CLASSES, GRADES = ("amber", "jade", "onyx"), ("1", "2", "3", "4")
LABELS, NUMBERS = ("delayed", "spilled", "lame"), ("outcome", "fodder_kg", "water_l")
FIRST_DAY, DAYS, TRAIN_DAYS = date(2021, 3, 7), 700, 500
UNIT_SIZE, COPIES = 6, 0.12

Edit = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Kind:
    """What a hand-made package is to have."""

    target: TargetKind = TargetKind.BINARY
    metric: MetricName | None = None
    split: SplitKind = SplitKind.RANDOM
    is_dated: bool = False
    """A date column even where the split is not by time."""
    has_copies: bool = False
    has_mixed_types: bool = False

    @property
    def scored_by(self) -> MetricName:
        """Metric; a usual one of the target if none is given."""
        return self.metric or _USUAL[self.target]


_USUAL = {
    TargetKind.BINARY: MetricName.ROC_AUC,
    TargetKind.MULTICLASS: MetricName.LOG_LOSS,
    TargetKind.ORDINAL: MetricName.QWK,
    TargetKind.MULTILABEL: MetricName.LWLRAP,
    TargetKind.REGRESSION: MetricName.RMSE,
    TargetKind.COUNT: MetricName.POISSON_DEVIANCE,
    TargetKind.MULTI_TARGET: MetricName.RMSE_COLUMNS,
}

KINDS = {
    **{str(target): Kind(target) for target in _USUAL},
    "labels": Kind(metric=MetricName.ACCURACY),
    "ranked lists": Kind(TargetKind.MULTICLASS, MetricName.MAP_AT_K),
    "shares of grades": Kind(TargetKind.ORDINAL, MetricName.LOG_LOSS),
    "label lists": Kind(TargetKind.MULTILABEL, MetricName.F1_SAMPLES),
    "stratified": Kind(split=SplitKind.STRATIFIED),
    "grouped": Kind(split=SplitKind.GROUPED),
    "grouped, dated": Kind(TargetKind.COUNT, split=SplitKind.GROUPED, is_dated=True),
    "temporal": Kind(TargetKind.REGRESSION, split=SplitKind.TEMPORAL),
    "dated": Kind(is_dated=True),
    "copies": Kind(TargetKind.MULTI_TARGET, is_dated=True, has_copies=True),
    "mixed types": Kind(has_mixed_types=True),
}
"""Every target, form of target, split and fault that has something of its own in the files."""


def make_spec(kind: Kind | TargetKind = TargetKind.BINARY) -> TaskSpec:
    """A small design: two numbers, one category, gaps in one number, and what the kind asks for."""
    kind = kind if isinstance(kind, Kind) else Kind(kind)
    link = _link(kind.target)
    weights = tuple(np.linspace(1, -1, output_count(link)).tolist()) if output_count(link) > 1 else (1.0,)
    columns, motifs, faults = _parts(kind)
    mechanism = Mechanism(
        columns=columns,
        terms=tuple(Term(motif=motif, weights=weights) for motif in motifs),
        link=link,
        pathologies=faults,
    )
    classes = class_names(link)
    structure = Structure(
        modality=Modality.TABULAR,
        target=kind.target,
        metric=kind.scored_by,
        n_classes=len(classes) if kind.target is TargetKind.MULTICLASS else None,
        split=kind.split,
    )
    return TaskSpec(
        seed_id="spaceship-titanic",
        structure=structure,
        domain="haulage",
        story=Story(
            title="Mule trains",
            overview="Which journeys end well.",
            row="one journey",
            target="outcome",
            target_meaning="how the journey went",
            column_meanings={column.name: column.name for column in columns},
        ),
        target=kind.target,
        metric=kind.scored_by,
        split=kind.split,
        mechanism=mechanism,
        sizes=Sizes(train=TRAIN_ROWS, feedback=PART_ROWS, final=PART_ROWS),
        wanted=Band.MEDIUM,
        hardness=0.5,
    )


def _link(target: TargetKind) -> Link:
    number = GaussianLink(location=40, scale=8, noise=0.7)
    links: dict[TargetKind, Link] = {
        TargetKind.BINARY: BinaryLink(intercept=0.0),
        TargetKind.MULTICLASS: MulticlassLink(classes=CLASSES, intercepts=(0.0, 0.0, 0.0)),
        TargetKind.ORDINAL: OrdinalLink(classes=GRADES, cuts=(-1.125, 0.0, 1.625)),
        TargetKind.MULTILABEL: MultilabelLink(labels=LABELS, intercepts=(-0.25, 0.125, 0.0)),
        TargetKind.REGRESSION: number,
        TargetKind.COUNT: CountLink(intercept=1.0, dispersion=0.375),
        TargetKind.MULTI_TARGET: NumbersLink(names=NUMBERS, links=(number, number, number)),
    }
    return links[target]


def _parts(kind: Kind) -> tuple[tuple[Column, ...], tuple[Motif, ...], tuple[Pathology, ...]]:
    columns = [
        Column(name="load_kg", distribution=Normal(mean=60, sd=9)),
        Column(name="slope_deg", distribution=Normal(mean=12, sd=3)),
        Column(name="surface", distribution=Categorical(levels=("clay", "grass", "sand"), shares=(0.5, 0.3, 0.2))),
    ]
    motifs: list[Motif] = [
        Linear(column="load_kg"),
        Interaction(left="load_kg", right="slope_deg"),
        Threshold(column="load_kg", cut=SECRET_CUT),
    ]
    faults: list[Pathology] = [Missing(column="slope_deg", given="load_kg", rate=0.1, slope=0.5)]
    if kind.split is SplitKind.GROUPED:
        columns.append(Column(name="stable", distribution=Unit(prefix="W", size=UNIT_SIZE)))
        motifs.append(UnitEffect(column="stable"))
    if kind.split is SplitKind.TEMPORAL or kind.is_dated:
        cut = TRAIN_DAYS if kind.split is SplitKind.TEMPORAL else None
        columns.append(Column(name="day", distribution=Date(first=FIRST_DAY, days=DAYS, train_days=cut), decimals=0))
        motifs.append(Drift(column="day", starts=(SECRET_START,), levels=(-0.375, 0.625)))
    if kind.has_copies:
        faults.append(Duplicates(rate=COPIES))
    if kind.has_mixed_types:
        faults.append(MixedTypes(column="load_kg", rate=0.3, suffix="kg"))
    return tuple(columns), tuple(motifs), tuple(faults)


def make_package(
    kind: Kind | TargetKind = TargetKind.BINARY, task_id: str = "sm0000000000aa", seed: int = 0
) -> TaskPackage:
    """A package that passes every gate and every suite."""
    kind = kind if isinstance(kind, Kind) else Kind(kind)
    spec, facts, rng = make_spec(kind), make_brief(kind), np.random.default_rng(seed)
    rows = TRAIN_ROWS + 2 * PART_ROWS
    parts = np.concatenate(
        [np.repeat("train", TRAIN_ROWS), rng.permutation(np.repeat(["feedback", "final"], PART_ROWS))]
    )
    load, slope = np.round(rng.normal(60, 9, rows), 2), np.round(rng.normal(12, 3, rows), 2)
    eta = (load - 60) / 9 + (load - 60) / 9 * (slope - 12) / 3
    gaps = rng.random(rows) < 1 / (1 + np.exp(-(np.log(1 / 9) + 0.5 * (load - 60) / 9)))
    suffix = np.where(rng.random(rows) < (0.3 if kind.has_mixed_types else 0), " kg", "")
    cells = {
        "journey_id": [f"{number:010x}" for number in rng.choice(2**40, rows, replace=False)],
        "load_kg": [f"{value:.2f}{unit}" for value, unit in zip(load, suffix, strict=True)],
        "slope_deg": [None if gap else f"{value:.2f}" for value, gap in zip(slope, gaps, strict=True)],
        "surface": rng.choice(["clay", "grass", "sand"], rows, p=[0.5, 0.3, 0.2]),
    }
    if kind.split is SplitKind.GROUPED:
        cells["stable"], effects = _units(parts, rng)
        eta = eta + effects
    if kind.split is SplitKind.TEMPORAL or kind.is_dated:
        days = _days(kind, parts, rng)
        cells["day"] = [(FIRST_DAY + timedelta(days=int(day))).isoformat() for day in days]
        eta = eta + np.where(days > SECRET_START, 0.625, -0.375)
    targets = _targets(kind, eta, rng)
    frame = pl.DataFrame(cells | {name: targets[name] for name in facts.target_columns})
    train, test = frame[:TRAIN_ROWS], frame[TRAIN_ROWS:]
    if kind.has_copies:
        source = np.arange(TRAIN_ROWS)
        copied = rng.choice(TRAIN_ROWS, round(COPIES * TRAIN_ROWS), replace=False)
        source[copied] = rng.choice(np.setdiff1d(source, copied), len(copied))
        train = train[source].with_columns(train["journey_id"])
    answers = test.select("journey_id", *facts.target_columns).with_columns(part=pl.Series(parts[TRAIN_ROWS:]))
    blank = {"label_list": "", "ranked_list": " ".join(facts.classes)}.get(facts.encoding, "0.5")
    sample = test.select("journey_id", *(pl.lit(blank).alias(name) for name in facts.submission_columns))
    public = {
        "train.csv": train.write_csv().encode(),
        "test.csv": test.drop(facts.target_columns).write_csv().encode(),
        "sample_submission.csv": sample.write_csv().encode(),
    }
    public["description.md"] = describe(spec, facts, public["sample_submission.csv"]).encode()
    private = {"answers.csv": answers.write_csv().encode()}
    return TaskPackage(task_id=task_id, replicate=0, spec=spec, facts=facts, public=public, private=private)


def make_brief(kind: Kind | TargetKind) -> TaskFacts:
    """What a solver of the hand-made package is told."""
    kind = kind if isinstance(kind, Kind) else Kind(kind)
    encoding, classes = ANSWER_FORMS[kind.target, kind.scored_by], class_names(_link(kind.target))
    wide = {"class_probabilities": classes, "label_probabilities": classes, "values": NUMBERS}
    return TaskFacts(
        id_column="journey_id",
        target_column="outcome",
        target=kind.target,
        metric=kind.scored_by,
        encoding=encoding,
        classes=classes,
        submission_columns=wide.get(encoding, ("outcome",)),
        list_length=3 if encoding == "ranked_list" else None,
    )


def describe(spec: TaskSpec, facts: TaskFacts, sample: bytes) -> str:
    """The words of the hand-made package, under the headings of a real one."""
    example = "\n".join(sample.decode().splitlines()[:4])
    meanings = {
        "load_kg": "load at the start, kilograms",
        "slope_deg": "steepest stretch, degrees; sometimes unknown",
        "surface": "ground: clay, grass or sand",
        "stable": "where the mules live",
        "day": "start",
    }
    columns = "\n".join(f"| `{column.name}` | {meanings[column.name]} |" for column in spec.mechanism.columns)
    targets = "\n".join(f"| `{name}` | how the journey went |" for name in facts.target_columns)
    labels = f"The labels are {', '.join(LABELS)}." if facts.target is TargetKind.MULTILABEL else ""
    apart = {
        SplitKind.GROUPED: "No `stable` of `train.csv` occurs in `test.csv`.",
        SplitKind.TEMPORAL: "All rows of `test.csv` are later than those of `train.csv`.",
    }.get(spec.split, "")
    return f"""# Mule trains

## Overview

A haulier wants to know which journeys end well. There are 100 journeys to learn from.

## Files

| file | rows | what |
|---|---|---|
| `public/train.csv` | 100 | journeys with their outcome |
| `public/test.csv` | 600 | journeys to predict |
| `public/sample_submission.csv` | 600 | a submission of the right form |

{apart}

## Columns

| column | meaning |
|---|---|
| `journey_id` | names the journey |
{columns}
{targets}

{labels}

## Evaluation

Submissions are scored by {get_metric(facts.metric).noun.split(" (")[0]}.

## Submission

Write `submission.csv` into the working directory.

```csv
{example}
```
"""


def edit(package: TaskPackage, path: str, change: Edit) -> TaskPackage:
    """Change one table of a package; cells are text."""
    side = "private" if path in package.private else "public"
    files = getattr(package, side)
    frame = change(pl.read_csv(files[path], infer_schema=False))
    return package.model_copy(update={side: files | {path: frame.write_csv().encode()}})


def edit_text(package: TaskPackage, old: str, new: str) -> TaskPackage:
    """Change words of the description. The old words must be there."""
    text = package.public["description.md"].decode()
    assert old in text
    return package.model_copy(update={"public": package.public | {"description.md": text.replace(old, new).encode()}})


def details(package: TaskPackage, gate: str) -> str:
    """What one gate finds in a package."""
    return " | ".join(finding.detail for finding in check_package(package) if finding.gate == gate)


def put(package: TaskPackage, path: str, content: bytes | None, side: str = "public") -> TaskPackage:
    """Put a file on one side of a package, or take it away."""
    files = {name: data for name, data in getattr(package, side).items() if name != path}
    return package.model_copy(update={side: files if content is None else files | {path: content}})


def recell(package: TaskPackage, path: str, column: str, change: Callable[[str | None], str | None]) -> TaskPackage:
    """Change the cells of one column one by one."""
    side = package.private if path in package.private else package.public
    cells = pl.read_csv(side[path], infer_schema=False)[column]
    return put_column(package, path, column, map(change, cells))


def put_column(package: TaskPackage, path: str, column: str, cells: Iterable[str | None]) -> TaskPackage:
    """Put other cells, or a new column, into a table."""
    return edit(package, path, lambda frame: frame.with_columns(pl.Series(column, list(cells), dtype=pl.String)))


def rename_ids(package: TaskPackage, name: Callable[[int, str, str], str]) -> TaskPackage:
    """Give test rows new ids in every file that holds them: a function of (row number, first target, part)."""
    answers = pl.read_csv(package.private["answers.csv"], infer_schema=False)
    rows = zip(answers[package.facts.target_columns[0]], answers["part"], strict=True)
    ids = pl.Series("journey_id", [name(number, target, part) for number, (target, part) in enumerate(rows)])
    for path in ("test.csv", "sample_submission.csv", "answers.csv"):
        package = edit(package, path, lambda frame: frame.with_columns(ids))
    return package


def reorder_test(package: TaskPackage, values: Sequence[Any]) -> TaskPackage:
    """Sort the test rows of every file by a value of each."""
    order = sorted(range(len(values)), key=values.__getitem__)
    for path in ("test.csv", "sample_submission.csv", "answers.csv"):
        package = edit(package, path, lambda frame: frame[order])
    return package


def _units(parts: np.ndarray, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """A unit for each row, no part sharing any, and what the rows of a unit have in common."""
    names, effects = np.empty(len(parts), dtype="<U8"), np.zeros(len(parts))
    hashes = iter(rng.choice(16**7, len(parts), replace=False))
    for part in np.unique(parts):
        rows = np.flatnonzero(parts == part)
        pool = len(rows) // UNIT_SIZE
        chosen = rng.integers(pool, size=len(rows))
        names[rows] = np.array([f"W{next(hashes):07x}" for _ in range(pool)])[chosen]
        effects[rows] = rng.normal(size=pool)[chosen]
    return names.tolist(), effects


def _days(kind: Kind, parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if kind.split is not SplitKind.TEMPORAL:
        return rng.integers(DAYS, size=len(parts))
    train = parts == "train"
    return np.where(train, rng.integers(TRAIN_DAYS, size=len(parts)), rng.integers(TRAIN_DAYS, DAYS, len(parts)))


def _targets(kind: Kind, eta: np.ndarray, rng: np.random.Generator) -> dict[str, list[str]]:
    """Cells of the target columns by name."""
    if kind.target in (TargetKind.REGRESSION, TargetKind.MULTI_TARGET):
        names = NUMBERS if kind.target is TargetKind.MULTI_TARGET else ("outcome",)
        noise = 0.7 * rng.normal(size=(len(names), len(eta)))
        return {n: [f"{value:.2f}" for value in 40 + 8 * (eta + e)] for n, e in zip(names, noise, strict=True)}
    if kind.target is TargetKind.MULTILABEL:
        hits = rng.random((len(eta), 3)) < 1 / (1 + np.exp(-np.stack([eta, -eta, 0 * eta], axis=1)))
        sets = [" ".join(np.array(LABELS)[row]) for row in hits]
        return {"outcome": sets} | {name: [str(int(hit)) for hit in hits[:, k]] for k, name in enumerate(LABELS)}
    match kind.target:
        case TargetKind.BINARY:
            cells = [str(int(hit)) for hit in rng.random(len(eta)) < 1 / (1 + np.exp(-eta))]
        case TargetKind.MULTICLASS:
            scores = np.stack([eta, np.zeros(len(eta)), -eta], axis=1) + rng.gumbel(size=(len(eta), 3))
            cells = [CLASSES[code] for code in scores.argmax(axis=1)]
        case TargetKind.ORDINAL:
            cells = [GRADES[code] for code in np.searchsorted([-1.125, 0.0, 1.625], eta + rng.logistic(size=len(eta)))]
        case _:
            cells = [str(count) for count in rng.poisson(np.exp(1 + 0.6 * np.clip(eta, -3, 3)))]
    return {"outcome": cells}
