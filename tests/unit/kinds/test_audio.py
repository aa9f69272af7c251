"""Recordings: each follows from its own row, can be measured as the description says, and gives nothing else away."""

from functools import cache

import numpy as np
import polars as pl

from sandmill.design import design_task
from sandmill.draw import render
from sandmill.kinds.audio import read as audio
from sandmill.kinds.audio.render import aiff_bytes, wav_bytes
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.item_files import audio_findings
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


@cache
def rendered_task(kind):
    seed = next(seed for seed in ingest(()).supported if seed.id == SEEDS[kind])
    slot = Slot(number=3, seed=seed, band=Band.HARD)
    spec = design_task(slot, Streams(SECRET, "plan").child(f"slot {kind}"), 0.5)
    return render(spec.model_copy(update={"sizes": Sizes(train=80, feedback=100, final=100)}), SECRET)


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
        "sounds of 2 formats, rates or lengths; expected one",
    ]


def test_a_folder_that_tells_more_is_refused():
    package = rendered_task("audio_pairs").package
    layout, labels = layout_of(package.spec), "essential_data/rec_labels_test_hidden.txt"
    asked = package.public[layout.sample].splitlines()[1].decode().partition("_")[0]
    public = {**package.public, labels: package.public[labels].replace(f"{asked},?".encode(), f"{asked},0".encode())}
    assert not layout.shows_target(package.public, package.facts)
    assert layout.shows_target(public, package.facts)
    more = {**package.public, "essential_data/src_wavs/R1.wav": b""}
    assert any("R1.wav" in fault for fault in layout.read(more, package.facts, package.spec.feature_columns).faults)
