"""For every kind of picture task: packages pass all gates, and scripts compute the same features as solvers."""

import inspect
import re
import sys
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sandmill.check import check_package
from sandmill.design.grammar import design_task
from sandmill.draw import render
from sandmill.kinds import image as images
from sandmill.kinds.files.item_files import image_findings
from sandmill.kinds.image import files as image_files
from sandmill.kinds.image import measures as image_measures
from sandmill.kinds.script_text import imports
from sandmill.models.base import Band
from sandmill.models.kind import kind_named
from sandmill.models.plan import Slot
from sandmill.models.seed import SeedTask
from sandmill.models.spec import Sizes
from sandmill.models.structure import Structure
from sandmill.rng import Streams
from tests.designs import SECRET

LEAST_FOUND = 0.35
"""Correlation of a number with its measure in the worst of pictures: small, blurred, and partly hidden."""

MOST_LINES = 170
"""Lines of a script that read its files; the models need about 80 more."""


@pytest.fixture(scope="module", params=[kind.name for kind in images.KINDS])
def rendered(request):
    ((target, metric), *_) = kind_named(request.param).tasks
    counts = {
        "n_classes": {"multiclass": 120, "ordinal": 5}.get(target),
        "n_targets": 9 if target == "multilabel" else 1,
    }
    structure = Structure(modality="image", target=target, metric=metric, kind=request.param, **counts)
    seed = SeedTask(
        id="seed", title="A seed", summary="A seed of a kind.", structure=structure, source="s", licence="l"
    )
    streams = Streams(SECRET, "plan").child(request.param)
    spec = design_task(Slot(number=0, seed=seed, band=Band.HARD, place=0.6), streams, 0.3)
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=100, final=100)}), SECRET)


@pytest.fixture
def folder(rendered, tmp_path):
    for path, content in rendered.package.public.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    return tmp_path


def run_lines(lines, facts, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["script", str(folder)])
    constants = [f"ID, TARGET, CLASSES = {facts.id_column!r}, {facts.target_column!r}, {list(facts.classes)!r}"]
    body = "\n".join([*constants, *lines])
    names = {"__name__": "script"}
    exec("\n".join(["import os, sys", *imports(body), body]), names)
    return names["train"], names["test"]


def test_a_package_passes_every_gate(rendered):
    assert check_package(rendered.package) == []
    layout = kind_named(rendered.package.facts.kind).load("layout")
    held = rendered.package.spec
    items = layout.read(rendered.package.public, rendered.package.facts, held.feature_columns, held.only_in_training)
    assert list(image_findings(items.train[held.channel.column], items.test[held.channel.column])) == []


def test_scripts_measure_in_few_lines_without_annotations(rendered):
    facts, cues = rendered.package.facts, rendered.package.spec.channel.cues
    generic = kind_named(facts.kind).load("reader")
    for lines in (generic.source(facts), image_measures.source(facts, cues)):
        body = "\n".join(lines)
        defined = set(re.findall(r"^def (\w+)", body, re.MULTILINE))
        assert len(lines) <= MOST_LINES
        assert {name for name in defined if len(re.findall(rf"\b{name}\b", body)) == 1} == set()
        assert "np.ndarray" not in body


@pytest.mark.slow
def test_scripts_read_what_solvers_read(rendered, folder, monkeypatch):
    facts, cues = rendered.package.facts, rendered.package.spec.channel.cues
    for module, more in ((kind_named(facts.kind).load("reader"), ()), (image_measures, (cues,))):
        own = module.read(folder, facts, *more)
        script = run_lines(module.source(facts, *more), facts, folder, monkeypatch)
        for table, same in zip(own, script, strict=True):
            assert list(table.columns) == list(same.columns)
            pd.testing.assert_frame_equal(table.astype(str).iloc[:, :1], same.astype(str).iloc[:, :1])
            numbers = [name for name in table.select_dtypes("number") if name not in facts.target_columns]
            np.testing.assert_allclose(table[numbers].to_numpy(float), same[numbers].to_numpy(float), atol=2e-4)
        assert list(own[1][facts.id_column]) == list(rendered.answers.ids)
    assert {cue.column for cue in cues} <= set(own[1].columns)
    assert all(re.fullmatch(r"[\x20-\x7e]+", cue.text) for cue in cues)


def test_measures_follow_their_columns(rendered, folder):
    cues = rendered.package.spec.channel.cues
    _, test = image_measures.read(folder, rendered.package.facts, cues)
    found = {}
    for cue in cues:
        scene, _, sight = cue.measure.partition(".")
        truth, seen = rendered.test_draw.observed[cue.column], test[cue.column]
        is_named = image_measures.sights_of(scene)[sight].levels
        found[cue.measure] = np.mean(seen == truth) if is_named else np.corrcoef(seen, truth)[0, 1]
    assert min(found.values()) > LEAST_FOUND, found


def test_a_file_that_is_read_again_gives_the_pixels_that_scripts_read(tmp_path):
    paths = []
    for number in range(3):
        drawn = np.random.default_rng(number).integers(0, 256, (20, 20, 3)).astype(np.uint8)
        paths.append(tmp_path / f"{number}.jpg")
        Image.fromarray(drawn).save(paths[-1])
    for files in (paths, [BytesIO(path.read_bytes()) for path in reversed(paths)], paths):
        known = image_files.pixels(files)
        assert known.dtype == np.float32
        np.testing.assert_array_equal(known, inspect.unwrap(image_files.pixels)(files))
