"""Files and scripts for `micro_vs_full` where items are no rows of a table: pictures, sounds, texts and other files."""

from collections.abc import Iterable
from pathlib import Path

from sandmill.draw.render import features_of, render_train, with_ids
from sandmill.draw.rows import draw_test
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.panel import OwnScript
from sandmill.kinds.script_text import imports
from sandmill.models.calibration import Rung
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.rng import Streams

HEAD = '''"""Generic features, a linear model, boosting and a forest: python solution.py PUBLIC OUT."""

import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import warnings

warnings.simplefilter("ignore")

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
'''

TAIL = """
features = [name for name in test.columns if name != ID]
both = pd.concat([train[features], test[features]], ignore_index=True)
both = both.apply(lambda cells: cells if pd.api.types.is_numeric_dtype(cells) else pd.factorize(cells)[0]).astype(float)
x, x_test = both.to_numpy()[: len(train)], both.to_numpy()[len(train) :]
written = {ID: test[ID]}
for name in TARGETS:
    y = train[name].to_numpy()
    if len(np.unique(y)) < 2:
        continue
    if IS_CLASS:
        models = [LogisticRegression(max_iter=200), HistGradientBoostingClassifier(random_state=0)]
        models.append(RandomForestClassifier(100, min_samples_leaf=5, random_state=0))
    else:
        models = [Ridge(), HistGradientBoostingRegressor(random_state=0)]
        models.append(RandomForestRegressor(100, min_samples_leaf=5, random_state=0))
    models[0] = make_pipeline(SimpleImputer(), StandardScaler(), models[0])
    models[2] = make_pipeline(SimpleImputer(), models[2])
    fitted = [model.fit(x, y) for model in models]
    said = [model.predict_proba(x_test) if IS_CLASS else model.predict(x_test)[:, None] for model in fitted]
    guess = np.mean(said, axis=0)
    written |= {f"{name} {place}": guess[:, place] for place in range(guess.shape[1])}
pd.DataFrame(written).to_csv(sys.argv[2], index=False)
"""


def script_of(facts: TaskFacts, folder: Path) -> str:
    """Write the script of a kind: its generic features and three usual models, or its own competent script.

    Args:
        facts: of the task.
        folder: public files of the micro task, from which kinds with a panel of their own write their script.
    """
    kind = kind_named(facts.kind)
    if kind.panel:
        panel = kind.load("panel")
        scripts: Iterable[OwnScript] = panel.ladder(facts, panel.read(folder, facts))
        return next(script.source for script in scripts if script.rung is Rung.COMPETENT)
    names = {
        "ID": facts.id_column,
        "TARGET": facts.target_column,
        "TARGETS": list(facts.target_columns),
        "CLASSES": list(facts.classes),
        "IS_CLASS": bool(facts.classes),
    }
    constants = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    body = "\n".join([constants, *kind.load("reader").source(facts), TAIL])
    return "\n".join([HEAD, *imports(body), "", body])


def write_items(spec: TaskSpec, facts: TaskFacts, rows: tuple[int, int], folder: Path) -> None:
    """Write public files with so many training and test items, drawn and rendered as those of a task.

    Args:
        spec: the design.
        facts: of its task.
        rows: training and test items.
        folder: is made.
    """
    folder.mkdir()
    streams = Streams(b"full", spec.fingerprint)
    sizes = Sizes.model_construct(train=rows[0], feedback=0, final=rows[1])
    train = render_train(spec.model_copy(update={"sizes": sizes}), facts, streams)
    features = features_of(spec, draw_test(spec.mechanism, streams.child("full test"), rows[1]), is_train=False)
    test = with_ids(spec, facts, streams, "test", features)
    write_files(folder, layout_of(spec).write(train.frame, test, facts))
