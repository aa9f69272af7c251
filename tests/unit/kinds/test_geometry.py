"""Files of atoms show their latent columns, and each row depends on its own numbers alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.kinds.crystal.channel import choose_channel, choose_medium
from sandmill.kinds.crystal.read import common_symbols, describe_crystals, measure_crystals, read_atoms
from sandmill.kinds.crystal.render import METALS, render_geometry
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import Column
from sandmill.rng import Streams

ROWS = 150
STREAMS = Streams(b"s" * 32, "geometry")


@pytest.fixture(scope="module", params=[0.1, 0.6])
def crystals(request):
    medium = choose_medium(request.param)
    words = medium.domain.numeric
    columns = [Column(name=word.name, distribution=word.distribution, decimals=word.decimals) for word in words]
    channel = choose_channel(medium, columns, STREAMS)
    rng = np.random.default_rng(0)
    latents = {}
    for word in words:
        law = word.distribution
        even, normal = rng.random(ROWS), rng.normal(size=ROWS)
        latents[word.name] = (
            law.low + (law.high - law.low) * even if law.kind == "uniform" else law.median * np.exp(law.sigma * normal)
        )
    return channel, latents, render_geometry(channel, latents, RowNumbers.of(STREAMS, range(ROWS)))


@pytest.fixture(scope="module")
def folder(crystals, tmp_path_factory):
    place = tmp_path_factory.mktemp("crystals")
    for row, text in enumerate(crystals[2]):
        (place / str(row)).mkdir()
        (place / str(row) / "geometry.xyz").write_text(text)
    return place


def test_a_measure_of_each_column_follows_it_and_cells_need_none(crystals, folder):
    channel, latents, _ = crystals
    wanted = {cue.column: (cue.measure, list(cue.parameters)) for cue in channel.cues}
    assert len(wanted) >= 8
    assert not wanted.keys() & set(channel.shown)
    found = measure_crystals(str(folder), pd.Series([str(row) for row in range(ROWS)]), wanted)
    for column in wanted:
        known = found[column].notna()
        assert known.mean() > 0.9, column
        assert np.corrcoef(found[column][known], latents[column][known])[0, 1] > 0.55, column


def test_generic_features_are_few_numbers_without_gaps(folder):
    ids = pd.Series([str(row) for row in range(20)])
    made = describe_crystals(str(folder), ids, common_symbols(str(folder), ids))
    assert made.shape[1] <= 40
    assert np.isfinite(made.to_numpy(float)).all()


def test_all_atoms_lie_in_the_cell_and_names_say_what_they_are(crystals, folder):
    channel = crystals[0]
    lattice, symbols, places = read_atoms(str(Path(folder) / "0" / "geometry.xyz"))
    shares = places @ np.linalg.inv(lattice)
    assert ((shares > -1e-3) & (shares < 1 + 1e-3)).all()
    assert sum(symbol not in channel.anions for symbol in symbols) == METALS
    assert set(symbols) <= {*channel.metals, *channel.foreigns, *channel.anions}
