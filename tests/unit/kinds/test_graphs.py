"""Hidden columns can be counted in graphs, and no graph depends on other rows."""

import numpy as np
import pytest

from sandmill.kinds.graph.channel import ENTRY, EXIT, TRAITS, choose_channel, choose_medium
from sandmill.kinds.graph.read import measure_all, parse_links
from sandmill.kinds.graph.render import render_graphs
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams
from tests.designs import columns_of

ROWS = 150
STREAMS = Streams(b"s" * 32, "graphs")
LEAST = {"weight": 0.85, "touch": 0.85}
"""Means over the random weights of some links: correlation of the measure with the column."""


@pytest.fixture(scope="module", params=[0.5, *(pytest.param(place, marks=pytest.mark.slow) for place in (0.1, 0.9))])
def drawn(request):
    medium = choose_medium(request.param)
    rng = np.random.default_rng(0)
    latents = {word.name: rng.random(ROWS) for word in medium.domain.numeric}
    latents |= {word.name: rng.integers(0, len(word.levels), ROWS) * 1.0 for word in medium.domain.categorical}
    channel = choose_channel(medium, columns_of(medium), STREAMS)
    return channel, latents, render_graphs(channel, latents, RowNumbers.of(STREAMS, range(ROWS)))


def test_a_measure_of_each_column_follows_it(drawn):
    channel, latents, cells = drawn
    cues = channel.cues
    assert len(cues) == len(channel.traced) == 16
    found = measure_all(np.array(cells), [(cue.column, cue.measure, *cue.parameters) for cue in cues])
    levels = {one.column: one.levels for one in channel.traced}
    for cue in cues:
        made, wanted = found[cue.column].to_numpy(), latents[cue.column]
        if levels[cue.column]:
            assert (made == np.array(levels[cue.column])[wanted.astype(int)]).all(), cue.measure
        elif TRAITS[cue.measure].is_counted:
            low, high = TRAITS[cue.measure].low, TRAITS[cue.measure].high
            assert np.array_equal(np.rint(low + (high - low) * made), np.rint(low + (high - low) * wanted)), cue.measure
        else:
            assert np.corrcoef(made.astype(float), wanted)[0, 1] > LEAST.get(cue.measure, 0.93), cue.measure
            assert abs(np.median(made - wanted)) < 0.05, cue.measure


def test_what_a_cue_says_names_letters_and_levels(drawn):
    channel, *_ = drawn
    said = {cue.measure: cue.text for cue in channel.cues}
    assert all(f"for {letter}" in said["hub_kind"] for letter in channel.letters)
    assert f"kind `{channel.letters[0]}`" in said["share"]
    assert len(set(channel.letters)) == 4
    assert not any("{" in text for text in said.values())


def test_cells_hold_links_between_nodes_of_known_kinds(drawn):
    channel, _, cells = drawn
    for cell in cells:
        links = parse_links(cell)
        nodes = {node for link in links for node in link[:2]}
        assert {ENTRY, EXIT} <= nodes
        assert {node[0] for node in nodes - {ENTRY, EXIT}} <= {*channel.letters}
        assert all(1 <= weight <= 9 for *_, weight in links)
        assert len(cell) < 1500
