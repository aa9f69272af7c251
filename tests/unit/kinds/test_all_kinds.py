"""Of every kind: items follow from their own row, files pass the gates and are read back, measures follow columns."""

import re
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest

from sandmill.check import check_package
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.kinds.audio import read as audio
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.image import read as image
from sandmill.kinds.script_text import imports
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.kind import kind_of, known_kinds
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds

KINDS = [kind for kind in known_kinds().values() if kind.channel]
FAST = {"audio_pairs", "graph_table", "image_archive", "json_rows", "tokens_russian"}
"""Kinds of the fast tests. Files of pages, crystals and series have tests of their own."""
CASES = {kind.name: pytest.param(kind.name, marks=[] if kind.name in FAST else pytest.mark.slow) for kind in KINDS}
LEAST_FOUND = 0.35
"""Correlation of a number with its measure in the worst of items: small, blurred, and partly hidden."""
MOST_LINES = 280
"""Lines of a script that read its files; the models need about 80 more."""


@cache
def rendered_of(name):
    seed = next(seed for seed in bundled_seeds().supported if kind_of(seed.structure).name == name)
    slot = Slot(number=0, seed=seed, band=Band.HARD, place=0.6)
    spec = design_task(slot, Streams(SECRET, "plan").child(name), 0.3)
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=100, final=100)}), SECRET)


@pytest.fixture(params=CASES.values())
def rendered(request):
    return rendered_of(request.param)


@pytest.fixture(params=[CASES[kind.name] for kind in KINDS if kind.measures])
def measured(request):
    return rendered_of(request.param)


@pytest.fixture
def folder(measured, tmp_path):
    write_files(tmp_path, measured.package.public)
    return tmp_path


def run_lines(lines, facts, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["script", str(folder)])
    constants = [f"ID, TARGET, CLASSES = {facts.id_column!r}, {facts.target_column!r}, {list(facts.classes)!r}"]
    body = "\n".join([*constants, *lines])
    names = {"__name__": "script"}
    exec("\n".join(["import os, sys", *imports(body), body]), names)
    return names["train"], names["test"]


def test_items_and_targets_follow_from_their_own_row(rendered):
    spec, later = rendered.package.spec, slice(40, 60)
    rows = RowNumbers.of(Streams(SECRET, "items"), range(60))
    latents = {name: cells[:60] for name, cells in rendered.test_draw.observed.items()}
    some, half = RowNumbers(rows.streams, rows.numbers[later]), {name: cells[later] for name, cells in latents.items()}
    make = spec.kind.load("render")
    assert make(spec.channel, latents, rows)[later] == make(spec.channel, half, some)
    if spec.kind.targets:
        whole, part = (spec.kind.load("targets")(spec.channel, *of) for of in ((latents, rows), (half, some)))
        np.testing.assert_array_equal(whole.truth[later], part.truth)


def test_a_package_passes_every_gate_and_is_read_back_as_written(rendered):
    package, spec = rendered.package, rendered.package.spec
    assert check_package(package) == []
    layout = layout_of(spec)
    items = layout.read(package.public, package.facts, spec.feature_columns, spec.only_in_training)
    assert items.faults == ()
    assert list(items.test[package.facts.id_column]) == list(rendered.answers.ids)
    assert list(layout.excess(package.public, spec.file_sizes)) == []
    assert not layout.shows_target(package.public, package.facts)


def test_measures_follow_their_columns(measured, folder):
    package = measured.package
    cues = package.spec.channel.cues
    assert cues
    _, test = package.spec.kind.load("measures").read(folder, package.facts, cues)
    test = test.set_index(package.facts.id_column).loc[list(measured.answers.ids)]
    found = {}
    for cue in cues:
        law, truth = package.spec.mechanism.column_by_name[cue.column].distribution, measured.test_draw.observed
        seen, wanted = test[cue.column].to_numpy(), truth[cue.column]
        if law.kind == "categorical":
            wanted = wanted if pd.api.types.is_numeric_dtype(seen) else np.array(law.levels)[wanted.astype(int)]
            found[cue.measure] = np.mean(seen == wanted)
        else:
            known = ~pd.isna(seen)
            found[cue.measure] = np.corrcoef(seen[known].astype(float), wanted[known])[0, 1]
    assert min(found.values()) > LEAST_FOUND, found


def test_scripts_read_in_few_lines_without_annotations(measured):
    facts, cues = measured.package.facts, measured.package.spec.channel.cues
    kind = measured.package.spec.kind
    for lines in (kind.load("reader").source(facts), kind.load("measures").source(facts, cues)):
        body = "\n".join(lines)
        defined = set(re.findall(r"^def (\w+)", body, re.MULTILINE))
        assert len(lines) <= MOST_LINES
        assert {name for name in defined if len(re.findall(rf"\b{name}\b", body)) == 1} == set()
        assert not re.search(r"def .*np\.ndarray", body)


@pytest.mark.slow
def test_scripts_read_what_solvers_read(measured, folder, monkeypatch):
    facts, cues = measured.package.facts, measured.package.spec.channel.cues
    kind = measured.package.spec.kind
    for module, more in ((kind.load("reader"), ()), (kind.load("measures"), (cues,))):
        own = module.read(folder, facts, *more)
        script = run_lines(module.source(facts, *more), facts, folder, monkeypatch)
        for table, same in zip(own, script, strict=True):
            assert list(table.columns) == list(same.columns)
            numbers = [name for name in table.select_dtypes("number") if name not in facts.target_columns]
            np.testing.assert_allclose(table[numbers].to_numpy(float), same[numbers].to_numpy(float), atol=2e-4)
        assert sorted(own[1][facts.id_column]) == sorted(measured.answers.ids)


GROUND, THING = (110.0, 110.0, 110.0), (150.0, 60.0, 50.0)


def picture_of(squares, side=40):
    """Draw squares on even ground: top, left and side of each."""
    picture = np.full((side, side, 3), GROUND, dtype=np.float32)
    for top, left, size in squares:
        picture[top : top + size, left : left + size] = THING
    return picture


def test_pieces_of_a_colour_are_counted_measured_and_placed():
    pictures = np.stack([picture_of([(4, 30, 8)]), picture_of([(2, 2, 4), (2, 20, 4), (30, 4, 9)]), picture_of([])])
    found = image.things(pictures, np.array([THING, GROUND], dtype=np.float32))
    share, pieces, largest, down, _, across, _, _ = found[:, :8].T
    assert (pieces**2).round().tolist() == [1, 3, 0]
    # Corners are lost where neighbours are averaged
    np.testing.assert_allclose(largest**2, [64, 81, 0], rtol=0.07)
    np.testing.assert_allclose(share**2, [64, 113, 0], rtol=0.12)
    assert down[0] < -0.4 < 0.5 < down[1]
    assert across[1] < -0.4 < 0.5 < across[0]
    assert (down[2], across[2]) == (0, 0)


def test_filters_are_learned_from_the_pictures_and_answer_to_their_edges():
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 30, (30, 40, 1, 1)).astype(np.float32)
    level, upright = (np.broadcast_to(part, (30, 40, 40, 3)) + 100 for part in (rows, rows.swapaxes(1, 2)))
    filters = image.learned_filters(level)
    assert filters.shape == (75, 24)
    assert image.answers_of(level, filters)[:, 24:].mean() > 2 * image.answers_of(upright, filters)[:, 24:].mean()


def test_pictures_are_halved_to_64_pixels():
    wide = np.arange(2 * 96 * 96 * 3, dtype=np.float32).reshape(2, 96, 96, 3)
    assert image.shrunk(wide).shape == (2, 48, 48, 3)
    np.testing.assert_allclose(image.shrunk(wide)[0, 0, 0], wide[0, :2, :2].mean(axis=(0, 1)))
    assert image.shrunk(wide[:, :64, :64]).shape == (2, 64, 64, 3)


def test_plain_pictures_have_features():
    plain = np.full((8, 20, 20, 3), 90, dtype=np.float32)
    for part in image.features(plain[:4], plain[4:]):
        assert np.isfinite(part.to_numpy()).all()


def test_sounds_of_a_band_are_counted_and_placed_in_time():
    level = np.full((2, 200, 1), -5.0)
    for place, starts in enumerate(([20, 50, 80], [150])):
        for start in starts:
            level[place, start : start + 10] = 2.0
    _, _, count, _, middle, gap = audio.times_of(level).T
    assert (count**2).round().tolist() == [3, 1]
    assert middle[0] < 0.3 < 0.7 < middle[1]
    np.testing.assert_allclose(gap, [30 / 200, 0], atol=0.01)


def test_recordings_of_both_parts_get_the_same_columns():
    rng = np.random.default_rng(1)
    parts = [pd.DataFrame({"id": range(size), "sound": list(rng.normal(size=(size, 3000)))}) for size in (20, 30)]
    train, test = audio.features(*parts, 4000)
    assert list(train) == list(test)
    assert "sound" not in test
    assert np.isfinite(test.to_numpy()).all()
