"""Recordings: each follows from its own row, can be measured as the description says, and gives nothing else away."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from sandmill.check import check_package
from sandmill.design import design_task
from sandmill.draw import render
from sandmill.kinds.audio import measures as audio_measures
from sandmill.kinds.audio import read as audio
from sandmill.kinds.audio.render import aiff_bytes, render_recordings, wav_bytes
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.files.item_files import audio_findings
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET

SEEDS = {
    "audio_archive": "the-icml-2013-whale-challenge-right-whale-redux",
    "audio_pairs": "mlsp-2013-birds",
}
SIZES = Sizes(train=80, feedback=100, final=100)


@cache
def rendered_task(kind):
    seed = next(seed for seed in ingest(()).supported if seed.id == SEEDS[kind])
    slot = Slot(number=3, seed=seed, band=Band.HARD)
    spec = design_task(slot, Streams(SECRET, "plan").child(f"slot {kind}"), 0.5)
    return render(spec.model_copy(update={"sizes": SIZES}), SECRET)


@pytest.fixture(params=sorted(SEEDS))
def rendered(request):
    return rendered_task(request.param)


def test_a_recording_depends_on_its_own_row_alone():
    channel, rows = rendered_task("audio_archive").package.spec.channel, RowNumbers.of(Streams(SECRET, "a"), range(60))
    latents = {one.column: np.linspace(0, 1, 60) for one in channel.heard if one.column}
    later = RowNumbers.of(rows.streams, range(40, 60))
    half = {name: values[40:] for name, values in latents.items()}
    assert render_recordings(channel, latents, rows)[40:] == render_recordings(channel, half, later)


def test_a_package_of_recordings_passes_every_gate_and_is_read_back_as_written(rendered):
    package = rendered.package
    assert check_package(package) == []
    layout = layout_of(package.spec)
    items = layout.read(package.public, package.facts, package.spec.feature_columns)
    assert items.faults == ()
    assert layout.write(items.train, items.test, package.facts).items() <= package.public.items()
    assert list(items.test[package.facts.id_column]) == list(rendered.answers.ids)
    assert list(layout.excess(package.public, SIZES)) == []
    assert (
        len({len(sound) for sound in (*items.train[items.test.columns[-1]], *items.test[items.test.columns[-1]])}) == 1
    )


def test_measures_follow_the_latent_columns_and_keep_their_scale(rendered, tmp_path):
    package, observed = rendered.package, rendered.test_draw.observed
    write_files(tmp_path, package.public)
    cues = package.spec.channel.cues
    _, test = audio_measures.read(tmp_path, package.facts, cues)
    assert {cue.column for cue in cues} <= set(test.columns)
    order = test.set_index(package.facts.id_column).loc[list(rendered.answers.ids)]
    for cue in cues:
        law = package.spec.mechanism.column_by_name[cue.column].distribution
        if law.kind == "categorical":
            named = np.array(law.levels)[observed[cue.column].astype(int)]
            assert (order[cue.column] == named).mean() > 0.9, cue.measure
        else:
            values = np.clip(observed[cue.column], 0, 1)
            assert np.corrcoef(order[cue.column], values)[0, 1] > 0.65, cue.measure
            assert abs(order[cue.column].median() - np.median(values)) < 0.2, cue.measure


@pytest.mark.parametrize("cued", [False, True])
def test_the_lines_of_a_script_make_the_same_tables(rendered, cued, tmp_path):
    package = rendered.package
    write_files(tmp_path, package.public)
    cues = package.spec.channel.cues
    told, extra = (audio_measures, (cues,)) if cued else (audio, ())
    lines = told.source(package.facts, *extra)
    head = ["import struct, sys, wave", "from pathlib import Path", "from zipfile import ZipFile"]
    head += ["import numpy as np", "import pandas as pd", f"sys.argv = ['', {str(tmp_path)!r}]"]
    head += [f"ID, TARGET = {package.facts.id_column!r}, {package.facts.target_column!r}"]
    names = {}
    exec("\n".join([*head, *lines]), names)
    train, test = told.read(tmp_path, package.facts, *extra)
    for mine, theirs in ((train, names["train"]), (test, names["test"])):
        own = [name for name in mine.columns if name != package.facts.target_column]
        assert mine[own].equals(theirs[own])
    assert max(map(len, lines)) <= 100 or cued


def test_both_formats_hold_samples_and_rate():
    samples = np.array([0, 1, -2, 32767, -32767], dtype=np.int16)
    found, rate = audio.samples_of_aiff(aiff_bytes(samples, 2500))
    assert rate == 2500
    np.testing.assert_array_equal(np.rint(found * 32768), samples)


def test_sounds_of_several_lengths_or_with_remarks_are_found():
    plain, longer = (wav_bytes(np.zeros(length, dtype=np.int16), 2000) for length in (100, 101))
    assert list(audio_findings(pl.Series([plain]), pl.Series([plain]))) == []
    found = list(audio_findings(pl.Series([plain, longer]), pl.Series([plain + b"LIST\x04\0\0\0note", b"no sound"])))
    assert found == [
        "2 sounds not of a header and samples alone",
        "sounds of 2 formats, rates or lengths; expected one, so that sizes of files tell nothing",
    ]


def test_days_part_training_from_test_clips():
    package = rendered_task("audio_archive").package
    items = layout_of(package.spec).read(package.public, package.facts, package.spec.feature_columns)
    day = package.spec.channel.shown[0]
    assert items.train[day].max() < items.test[day].min()
    assert day not in {name for term in package.spec.mechanism.terms for name in str(term).split("'")}


def test_a_folder_that_tells_more_is_refused():
    package = rendered_task("audio_pairs").package
    layout, labels = layout_of(package.spec), "essential_data/rec_labels_test_hidden.txt"
    asked = package.public[layout.sample].splitlines()[1].decode().partition("_")[0]
    public = {**package.public, labels: package.public[labels].replace(f"{asked},?".encode(), f"{asked},0".encode())}
    assert not layout.shows_target(package.public, package.facts)
    assert layout.shows_target(public, package.facts)
    more = {**package.public, "essential_data/src_wavs/R1.wav": b""}
    assert any("R1.wav" in fault for fault in layout.read(more, package.facts, package.spec.feature_columns).faults)
