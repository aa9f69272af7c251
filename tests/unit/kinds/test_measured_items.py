"""Graphs, recordings of sensors and crystals: hidden columns can be measured, and generic features have no gaps."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from sandmill.kinds.crystal import channel as crystals
from sandmill.kinds.crystal.read import common_symbols, describe_crystals, measure_crystals, read_atoms
from sandmill.kinds.crystal.render import METALS, render_geometry
from sandmill.kinds.graph import channel as graphs
from sandmill.kinds.graph.read import describe_graphs, measure_all, parse_links
from sandmill.kinds.graph.render import render_graphs
from sandmill.kinds.series import channel as series
from sandmill.kinds.series import read as signals
from sandmill.kinds.series.render import render_series
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams
from tests.designs import columns_of

ROWS = 150
IDS = pd.Series([str(row) for row in range(ROWS)])
STREAMS = Streams(b"s" * 32, "items")
LEAST = {"weight": 0.85, "touch": 0.85, "bursts": 0.85, "coupling": 0.8, "lag": 0.6, "growth": 0.7, "place": 0.7}
"""Traits that an item shows with more noise than others: correlation of the measure with the column."""


def drawn(module, place, render):
    """Return a channel that shows every column of a domain, cells of a few rows, and the items rendered from them."""
    medium, rng, latents = module.choose_medium(place), np.random.default_rng(0), {}
    for word in medium.domain.numeric:
        law, even = word.distribution, rng.random(ROWS)
        if law.kind == "uniform":
            latents[word.name] = law.low + (law.high - law.low) * (0.02 + 0.96 * even)
        else:
            latents[word.name] = law.median * np.exp(law.sigma * rng.normal(size=ROWS))
    latents |= {word.name: rng.integers(0, len(word.levels), ROWS) * 1.0 for word in medium.domain.categorical}
    channel = module.choose_channel(medium, columns_of(medium), STREAMS)
    return channel, latents, render(channel, latents, RowNumbers.of(STREAMS, range(ROWS)))


def assert_measured(channel, latents, found, least):
    """Numbers follow their columns, and nearly all levels are right."""
    for cue in channel.cues:
        made, wanted = found[cue.column].to_numpy(), latents[cue.column]
        assert "{" not in cue.text
        if pd.api.types.is_numeric_dtype(made):
            known = ~np.isnan(made.astype(float))
            assert known.mean() > 0.9, cue.measure
            close = np.corrcoef(made[known].astype(float), wanted[known])[0, 1]
            assert close > LEAST.get(cue.measure, least), (cue.measure, close)
        else:
            levels = np.array(cue.parameters)[wanted.astype(int)]
            assert np.mean([str(one).lower() == level.lower() for one, level in zip(made, levels, strict=True)]) > 0.9


def listed(channel):
    return [(cue.column, cue.measure, *cue.parameters) for cue in channel.cues]


@pytest.mark.parametrize("place", [0.5, *(pytest.param(place, marks=pytest.mark.slow) for place in (0.1, 0.9))])
def test_columns_can_be_counted_in_graphs(place):
    channel, latents, cells = drawn(graphs, place, render_graphs)
    assert len(channel.cues) == len(channel.traced) == 16
    assert_measured(channel, latents, measure_all(np.array(cells), listed(channel)), 0.93)
    assert np.isfinite(describe_graphs(np.array(cells[:20])).to_numpy(float)).all()
    for cell in cells:
        nodes = {node for link in parse_links(cell) for node in link[:2]}
        assert {node[0] for node in nodes - {graphs.ENTRY, graphs.EXIT}} <= {*channel.letters}
        assert {graphs.ENTRY, graphs.EXIT} <= nodes
        assert len(cell) < 1500


@pytest.mark.parametrize("place", [0.1, pytest.param(0.6, marks=pytest.mark.slow)])
def test_columns_can_be_measured_in_crystals(place, tmp_path):
    channel, latents, files = drawn(crystals, place, render_geometry)
    for name, text in zip(IDS, files, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "geometry.xyz").write_text(text)
    wanted = {cue.column: (cue.measure, list(cue.parameters)) for cue in channel.cues}
    assert len(wanted) >= 8
    assert not wanted.keys() & set(channel.shown)
    assert_measured(channel, latents, measure_crystals(str(tmp_path), IDS, wanted), 0.55)
    made = describe_crystals(str(tmp_path), IDS[:20], common_symbols(str(tmp_path), IDS[:20]))
    assert made.shape[1] <= 40
    assert np.isfinite(made.to_numpy(float)).all()
    lattice, symbols, places = read_atoms(str(tmp_path / "0" / "geometry.xyz"))
    shares = places @ np.linalg.inv(lattice)
    assert ((shares > -1e-3) & (shares < 1 + 1e-3)).all()
    assert sum(symbol not in channel.anions for symbol in symbols) == METALS


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    channel, latents, files = drawn(series, 0.6, render_series)
    place = tmp_path_factory.mktemp("recordings")
    for name, text in zip(IDS, files, strict=True):
        (place / f"{name}.csv").write_text(text)
    assert {len(text) for text in files} == {len(",".join(channel.sensors)) + 1 + channel.steps * 30}
    return channel, latents, signals.read_signals(str(place), IDS)


@pytest.mark.slow
def test_columns_can_be_measured_in_recordings(recordings):
    channel, latents, read = recordings
    assert len(channel.cues) == len(channel.traced) == 16
    assert_measured(channel, latents, signals.measure_all(read, listed(channel)), 0.9)


def test_generic_features_of_recordings_are_numbers_without_gaps(recordings):
    made = signals.features(recordings[2][:100], recordings[2][100:])
    assert made[0].shape == (100, made[1].shape[1])
    assert made[0].shape[1] <= 110
    assert all(np.isfinite(part.to_numpy(float)).all() for part in made)


@pytest.mark.parametrize("kind", ["series.channel:Traced", "graph.channel:Traced", "audio.channel:Heard"])
def test_a_trait_that_no_recording_or_graph_can_show_is_refused(kind):
    module, _, name = kind.partition(":")
    with pytest.raises(ValidationError, match="unknown trait smell; known are"):
        getattr(import_module(f"sandmill.kinds.{module}"), name)(trait="smell")
