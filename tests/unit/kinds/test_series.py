"""Hidden columns can be measured in recordings of sensors, and no recording depends on other rows."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from sandmill.kinds.series.channel import choose_channel, choose_medium
from sandmill.kinds.series.read import features, measure_all, read_signals
from sandmill.kinds.series.render import render_series
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams
from tests.designs import columns_of

ROWS = 150
STREAMS = Streams(b"s" * 32, "series")
LEAST = {"bursts": 0.85, "coupling": 0.8, "lag": 0.6, "growth": 0.7, "place": 0.7}
"""Traits that a recording of 128 steps shows with more noise: correlation of the measure with the column."""


@pytest.fixture(scope="module", params=[0.6, pytest.param(0.1, marks=pytest.mark.slow)])
def recordings(request):
    medium = choose_medium(request.param)
    rng = np.random.default_rng(0)
    latents = {word.name: 0.02 + 0.96 * rng.random(ROWS) for word in medium.domain.numeric}
    latents |= {word.name: rng.integers(0, len(word.levels), ROWS) * 1.0 for word in medium.domain.categorical}
    channel = choose_channel(medium, columns_of(medium), STREAMS)
    return channel, latents, render_series(channel, latents, RowNumbers.of(STREAMS, range(ROWS)))


@pytest.fixture(scope="module")
def signals(recordings, tmp_path_factory):
    place = tmp_path_factory.mktemp("recordings")
    for row, text in enumerate(recordings[2]):
        (place / f"{row}.csv").write_text(text)
    return read_signals(str(place), pd.Series([str(row) for row in range(ROWS)]))


@pytest.mark.slow
def test_a_measure_of_each_column_follows_it(recordings, signals):
    channel, latents, _ = recordings
    cues = channel.cues
    assert len(cues) == len(channel.traced) == 16
    found = measure_all(signals, [(cue.column, cue.measure, *cue.parameters) for cue in cues])
    for cue in cues:
        made, wanted = found[cue.column].to_numpy(), latents[cue.column]
        if isinstance(cue.parameters[0], str):
            right = made == np.array(cue.parameters)[wanted.astype(int)]
            assert right.mean() > 0.9, (cue.measure, right.mean())
        else:
            assert np.corrcoef(made, wanted)[0, 1] > LEAST.get(cue.measure, 0.9), cue.measure
            assert abs(np.median(made - wanted)) < 0.1, cue.measure


def test_generic_features_are_numbers_without_gaps(signals):
    made = features(signals[:100], signals[100:])
    assert made[0].shape == (100, made[1].shape[1])
    assert made[0].shape[1] <= 110
    assert all(np.isfinite(part.to_numpy(float)).all() for part in made)


def test_all_files_have_one_size(recordings):
    channel, _, files = recordings
    assert {len(text) for text in files} == {len(",".join(channel.sensors)) + 1 + channel.steps * 30}


@pytest.mark.parametrize("kind", ["series.channel:Traced", "graph.channel:Traced", "audio.channel:Heard"])
def test_a_trait_that_no_recording_or_graph_can_show_is_refused(kind):
    module, _, name = kind.partition(":")
    with pytest.raises(ValidationError, match="unknown trait smell; known are"):
        getattr(import_module(f"sandmill.kinds.{module}"), name)(trait="smell")
