"""Texts state hints among other sentences, and files hold cells as the hints say."""

from collections import Counter

import numpy as np
import polars as pl

from sandmill.draw.describe import columns_section
from sandmill.draw.wording import Wording, phrases
from sandmill.kinds.files.base import layout_of
from sandmill.mechanism.units import encode
from sandmill.models.columns import Categorical
from sandmill.models.package import TaskPackage
from sandmill.models.texts import DESCRIPTION, TEXTS
from tests.hinted_designs import small_rendered

SLOTS = (0, 2, 6, 8, 9, 10)


def test_hints_and_asides_stand_in_the_texts_word_for_word():
    for slot in SLOTS:
        package = small_rendered(slot).package
        page = package.public[DESCRIPTION].decode()
        assert all(hint.text in package.public[hint.file].decode() for hint in package.spec.hints)
        assert all(aside in page for aside in package.spec.story.asides)
        assert set(package.public) == layout_of(package.spec).files_of(package.spec)
        for name in package.public:
            assert (f"`public/{name}`" in page) == (name not in TEXTS)


def test_files_hold_sentinels_and_converted_cells():
    seen = Counter()
    for slot in SLOTS:
        rendered = small_rendered(slot)
        mechanism, cells = rendered.package.spec.mechanism, rendered.test_draw.observed
        frame = pl.read_csv(rendered.package.public["test.csv"])
        for gap in mechanism.missing():
            if gap.sentinel is not None and gap.column in frame.columns:
                missing = np.isnan(cells[gap.column])
                written = frame[gap.column].cast(pl.Float64).to_numpy()
                assert (written[missing] == gap.sentinel).all()
                assert not (written[~missing] == gap.sentinel).any()
                said = line_of(rendered.package, gap.column)
                assert not [words for words in phrases()["gaps"] if words in said]
                seen["sentinels"] += 1
        for column in mechanism.columns:
            if column.conversion and frame[column.name].dtype != pl.String:
                codes = cells[column.conversion.by]
                expected = encode(column, cells[column.name], codes)
                known = ~np.isnan(cells[column.name])
                written = frame[column.name].cast(pl.Float64).to_numpy()
                np.testing.assert_allclose(written[known], expected[known])
                level = mechanism.column_by_name[column.conversion.by].distribution
                assert isinstance(level, Categorical)
                other = np.asarray(column.conversion.factors)[codes.astype(int)] != 1
                if other.any():
                    assert not np.allclose(written[known & other], cells[column.name][known & other])
                    seen["units"] += 1
    assert min(seen["sentinels"], seen["units"]) >= 1


def line_of(package: TaskPackage, column: str) -> str:
    """What the section of the columns says of one of them."""
    section = columns_section(package.spec, package.facts, layout_of(package.spec), Wording(package.spec.story.style))
    assert section in package.public[DESCRIPTION].decode()
    (line,) = (line for line in section.splitlines() if f"`{column}`" in line)
    return line
