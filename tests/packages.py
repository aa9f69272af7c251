"""A healthy hand-made package, and one way to break it for each thing that a check must see."""

from collections.abc import Callable

import numpy as np
import polars as pl

from sandmill.models.base import Band
from sandmill.models.mechanism import (
    BinaryLink,
    Categorical,
    Column,
    GaussianLink,
    Interaction,
    Linear,
    Mechanism,
    Missing,
    MulticlassLink,
    Normal,
    Term,
    Threshold,
)
from sandmill.models.package import Brief, Encoding, TaskPackage
from sandmill.models.spec import Sizes, Story, TaskSpec
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind

TRAIN_ROWS, PART_ROWS = 100, 300
SECRET_CUT = 61.375
CLASSES = ("amber", "jade", "onyx")

Edit = Callable[[pl.DataFrame], pl.DataFrame]


def make_spec(target: TargetKind = TargetKind.BINARY) -> TaskSpec:
    """A small design: two numbers, one category, gaps in one number."""
    columns = (
        Column(name="load_kg", distribution=Normal(mean=60, sd=9)),
        Column(name="slope_deg", distribution=Normal(mean=12, sd=3)),
        Column(name="surface", distribution=Categorical(levels=("clay", "grass", "sand"), shares=(0.5, 0.3, 0.2))),
    )
    metric, link, weights = {
        TargetKind.BINARY: (MetricName.ROC_AUC, BinaryLink(intercept=0.0), (1.0,)),
        TargetKind.MULTICLASS: (
            MetricName.LOG_LOSS,
            MulticlassLink(classes=CLASSES, intercepts=(0.0, 0.0, 0.0)),
            (1.0, 0.0, -1.0),
        ),
        TargetKind.REGRESSION: (MetricName.RMSE, GaussianLink(location=40, scale=8, noise=0.7), (1.0,)),
    }[target]
    terms = (
        Term(motif=Linear(column="load_kg"), weights=weights),
        Term(motif=Interaction(left="load_kg", right="slope_deg"), weights=weights),
        Term(motif=Threshold(column="load_kg", cut=SECRET_CUT), weights=weights),
    )
    mechanism = Mechanism(
        columns=columns,
        terms=terms,
        link=link,
        pathologies=(Missing(column="slope_deg", given="load_kg", rate=0.1, slope=0.5),),
    )
    classes = 3 if target is TargetKind.MULTICLASS else None
    return TaskSpec(
        seed_id="spaceship-titanic",
        structure=Structure(modality=Modality.TABULAR, target=target, metric=metric, n_classes=classes),
        domain="haulage",
        story=Story(
            title="Mule trains",
            overview="Which journeys end well.",
            row="one journey",
            target="outcome",
            target_meaning="how the journey went",
            column_meanings={"load_kg": "load", "slope_deg": "steepness", "surface": "ground"},
        ),
        target=target,
        metric=metric,
        mechanism=mechanism,
        sizes=Sizes(train=TRAIN_ROWS, feedback=PART_ROWS, final=PART_ROWS),
        wanted=Band.MEDIUM,
        hardness=0.5,
    )


def make_package(target: TargetKind = TargetKind.BINARY, task_id: str = "sm0000000000aa", seed: int = 0) -> TaskPackage:
    """A package that passes every gate and every suite."""
    spec, rng, rows = make_spec(target), np.random.default_rng(seed), TRAIN_ROWS + 2 * PART_ROWS
    load, slope = np.round(rng.normal(60, 9, rows), 2), np.round(rng.normal(12, 3, rows), 2)
    surface = rng.choice(["clay", "grass", "sand"], rows, p=[0.5, 0.3, 0.2])
    eta = (load - 60) / 9 + (load - 60) / 9 * (slope - 12) / 3
    gaps = rng.random(rows) < 1 / (1 + np.exp(-(np.log(1 / 9) + 0.5 * (load - 60) / 9)))
    ids = np.array([f"{number:010x}" for number in rng.choice(2**40, rows, replace=False)])
    frame = pl.DataFrame(
        {
            "journey_id": ids,
            "load_kg": [f"{value:.2f}" for value in load],
            "slope_deg": [None if gap else f"{value:.2f}" for value, gap in zip(slope, gaps, strict=True)],
            "surface": surface,
            "outcome": _targets(target, eta, rng),
        }
    )
    train, test = frame[:TRAIN_ROWS], frame[TRAIN_ROWS:]
    parts = rng.permutation(np.repeat(["feedback", "final"], PART_ROWS))
    answers = test.select("journey_id", "outcome").with_columns(part=pl.Series(parts))
    brief = make_brief(target)
    sample = pl.DataFrame(
        {"journey_id": ids[TRAIN_ROWS:]} | {name: ["0.5"] * test.height for name in brief.submission_columns}
    )
    public = {
        "train.csv": train.write_csv().encode(),
        "test.csv": test.drop("outcome").write_csv().encode(),
        "sample_submission.csv": sample.write_csv().encode(),
    }
    public["description.md"] = describe(brief, public["sample_submission.csv"]).encode()
    private = {"answers.csv": answers.write_csv().encode()}
    return TaskPackage(task_id=task_id, replicate=0, spec=spec, brief=brief, public=public, private=private)


def make_brief(target: TargetKind) -> Brief:
    """What a solver of the hand-made package is told."""
    metric, encoding, classes = {
        TargetKind.BINARY: (MetricName.ROC_AUC, "probability", ("0", "1")),
        TargetKind.MULTICLASS: (MetricName.LOG_LOSS, "class_probabilities", CLASSES),
        TargetKind.REGRESSION: (MetricName.RMSE, "value", ()),
    }[target]
    shape: Encoding = encoding
    return Brief(
        id_column="journey_id",
        target_column="outcome",
        target=target,
        metric=metric,
        encoding=shape,
        classes=classes,
        submission_columns=classes if shape == "class_probabilities" else ("outcome",),
    )


def describe(brief: Brief, sample: bytes) -> str:
    """The words of the hand-made package, under the headings of a real one."""
    metric = {"roc_auc": "area under the ROC curve", "log_loss": "log loss", "rmse": "root mean squared error"}[
        brief.metric
    ]
    example = "\n".join(sample.decode().splitlines()[:4])
    return f"""# Mule trains

## Overview

A haulier wants to know which journeys end well. There are 100 journeys to learn from.

## Files

| file | rows | what |
|---|---|---|
| train.csv | 100 | journeys with their outcome |
| test.csv | 600 | journeys to predict |
| sample_submission.csv | 600 | a submission of the right form |

## Columns

| column | type | meaning |
|---|---|---|
| `journey_id` | text | names the journey |
| `load_kg` | number | load at the start, kilograms |
| `slope_deg` | number | steepest stretch, degrees; sometimes unknown |
| `surface` | category | ground: clay, grass or sand |
| `outcome` | target | how the journey went |

## Evaluation

Submissions are scored by {metric}.

## Submission

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


def put(package: TaskPackage, path: str, content: bytes | None, side: str = "public") -> TaskPackage:
    """Put a file on one side of a package, or take it away."""
    files = {name: data for name, data in getattr(package, side).items() if name != path}
    return package.model_copy(update={side: files if content is None else files | {path: content}})


def rename_ids(package: TaskPackage, name: Callable[[int, str, str], str]) -> TaskPackage:
    """Give test rows new ids in every file that holds them: a function of (row number, target, part)."""
    answers = pl.read_csv(package.private["answers.csv"], infer_schema=False)
    rows = zip(answers["outcome"], answers["part"], strict=True)
    ids = pl.Series("journey_id", [name(number, target, part) for number, (target, part) in enumerate(rows)])
    for path in ("test.csv", "sample_submission.csv", "answers.csv"):
        package = edit(package, path, lambda frame: frame.with_columns(ids))
    return package


def reorder_test(package: TaskPackage, key: Callable[[str, str], object]) -> TaskPackage:
    """Sort the test rows of every file by a function of (target, part)."""
    answers = pl.read_csv(package.private["answers.csv"], infer_schema=False)
    cells = list(zip(answers["outcome"], answers["part"], strict=True))
    order = sorted(range(len(cells)), key=lambda number: key(*cells[number]))
    for path in ("test.csv", "sample_submission.csv", "answers.csv"):
        package = edit(package, path, lambda frame: frame[order])
    return package


def _targets(target: TargetKind, eta: np.ndarray, rng: np.random.Generator) -> list[str]:
    if target is TargetKind.REGRESSION:
        return [f"{value:.2f}" for value in 40 + 8 * (eta + 0.7 * rng.normal(size=len(eta)))]
    if target is TargetKind.BINARY:
        return [str(int(hit)) for hit in rng.random(len(eta)) < 1 / (1 + np.exp(-eta))]
    scores = np.stack([eta, np.zeros(len(eta)), -eta], axis=1) + rng.gumbel(size=(len(eta), 3))
    return [CLASSES[code] for code in scores.argmax(axis=1)]
