"""Recordings: each follows from its own row, can be measured as the description says, and gives nothing else away."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from sandmill.design import design_task
from sandmill.draw import render
from sandmill.kinds.audio import channel as channels
from sandmill.kinds.audio import read as audio
from sandmill.kinds.audio.measures import measure_all
from sandmill.kinds.audio.render import aiff_bytes, render_recordings, wav_bytes
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.item_files import audio_findings
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.kind import kind_named
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds, columns_of

ARCHIVE, PAIRS = (kind_named(name).load("design") for name in ("audio_archive", "audio_pairs"))

SEEDS = {"audio_archive": "the-icml-2013-whale-challenge-right-whale-redux", "audio_pairs": "mlsp-2013-birds"}

LEAST_CLOSE, LEAST_RIGHT = 0.8, 0.85
"""Rank correlation of a measured number with its column, and share of levels that are right, at least."""


@cache
def rendered_task(kind):
    seed = next(seed for seed in bundled_seeds().supported if seed.id == SEEDS[kind])
    slot = Slot(number=3, seed=seed, band=Band.HARD)
    spec = design_task(slot, Streams(SECRET, "plan").child(f"slot {kind}"), 0.5)
    return render(spec.model_copy(update={"sizes": Sizes(train=80, feedback=100, final=100)}), SECRET)


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_both_formats_hold_samples_and_rate(kind, tmp_path):
    most = np.iinfo(kind).max
    samples = np.array([0, 1, -2, 5, most, -most], dtype=kind)
    (tmp_path / "sound.wav").write_bytes(wav_bytes(samples, 2500))
    for found, rate in (
        audio.samples_of_aiff(aiff_bytes(samples, 2500)),
        audio.samples_of_wav(str(tmp_path / "sound.wav")),
    ):
        assert rate == 2500
        np.testing.assert_array_equal(np.rint(found * (most + 1)), samples)


@pytest.mark.parametrize("hardness", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", [0.1, *(pytest.param(place, marks=pytest.mark.slow) for place in (0.4, 0.6, 0.9))])
def test_columns_are_heard_in_the_samples(place, hardness):
    rows, rng, streams = 120, np.random.default_rng(0), Streams(b"s" * 32, "sounds")
    medium = PAIRS.choose_medium(place)
    drawn = PAIRS.choose_channel(medium, columns_of(medium), streams)
    laws = {word.name: word.distribution for word in medium.domain.numeric}
    latents = {
        name: law.median * np.exp(law.sigma * rng.normal(size=rows)) if law.kind == "lognormal" else rng.random(rows)
        for name, law in laws.items()
    }
    latents |= {word.name: rng.integers(0, len(word.levels), rows) * 1.0 for word in medium.domain.categorical}
    channel = channels.disturb(drawn, hardness)
    files = render_recordings(channel, latents, RowNumbers.of(streams, range(rows)))
    sounds = np.stack([np.frombuffer(file[44:], "u1") / 128.0 - 1 for file in files])
    cues = [(cue.column, cue.measure, *cue.parameters) for cue in channel.cues]
    found = measure_all(sounds, channel.rate, cues)
    assert len(cues) == len(channels.TRAITS)
    for cue in channel.cues:
        made, wanted = found[cue.column].to_numpy(), latents[cue.column]
        if channels.TRAITS[cue.measure].levels:
            levels = np.array([part for part in cue.parameters if isinstance(part, str)])
            assert np.mean(made == levels[wanted.astype(int)]) >= LEAST_RIGHT - hardness * 0.05, (
                cue.measure,
                np.mean(made == levels[wanted.astype(int)]),
            )
        else:
            close = spearmanr(made, wanted)[0]
            assert close >= LEAST_CLOSE - hardness * 0.05, (cue.measure, close)


def test_measures_of_silence_are_numbers_above_zero():
    medium = ARCHIVE.choose_medium(0.4)
    channel = ARCHIVE.choose_channel(medium, columns_of(medium), Streams(b"s" * 32, "sounds"))
    cues = [(cue.column, cue.measure, *cue.parameters) for cue in channel.cues]
    numbers = measure_all(np.zeros((3, channel.samples)), channel.rate, cues).select_dtypes("number").to_numpy()
    assert numbers.shape[1] > 10
    assert np.isfinite(numbers).all()
    assert (numbers > 0).all()


def test_features_of_silence_are_numbers():
    half = np.random.default_rng(0).normal(size=(3, 4000)).astype(np.float32) * np.repeat([0, 1], 2000)
    for sounds in (np.zeros((3, 4000), np.float32), half):
        found, moves = audio.describe_sounds(sounds.astype(np.float32), 8000)
        assert np.isfinite(np.column_stack([*found.values(), moves])).all()


def test_channels_of_older_releases_load_and_say_nothing():
    old = {"column": "sound", "meaning": "Sound", "rate": 2000, "samples": 2000, "noise": 0.05, "passing": 0.02}
    heard = [{"trait": "colour", "column": "hue"}, {"trait": "carrier"}]
    spots = [{"place": "floor", "low": 10, "high": 50}]
    loaded = channels.AudioChannel.model_validate({**old, "gain": 4, "echo": 0.2, "spots": spots, "heard": heard})
    assert loaded.cues == ()
    with pytest.raises(ValueError, match="older release"):
        render_recordings(loaded, {}, RowNumbers.of(Streams(b"s" * 32, "sounds"), range(2)))


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


def test_no_harmonic_folds_down_from_above_half_of_the_rate():
    medium, rows = ARCHIVE.choose_medium(0.4), RowNumbers.of(Streams(b"s" * 32, "sounds"), range(20))
    plain = {"noise": 0.0, "passing": 0.0, "gain": 0.0, "echo": 0.0}
    channel = ARCHIVE.choose_channel(medium, (), rows.streams).model_copy(update=plain)
    sounds = []
    for tone in (3000.0, 700.0):
        voice = channel.voice.model_copy(update={"trill": (tone, tone), "bend": 0.0})
        files = render_recordings(channel.model_copy(update={"voice": voice}), {}, rows)
        sounds.append(np.stack([np.frombuffer(file[-channel.samples :], np.int8) / 128 for file in files]))
    power = (np.abs(np.fft.rfft(sounds[0] - sounds[1], axis=1)) ** 2).mean(axis=0)
    pitch = np.linspace(0, channel.rate / 2, len(power))
    trill, folded = (power[np.abs(pitch - middle) < 100].sum() for middle in (3000, channel.rate - 6000))
    assert folded < 0.01 * trill
