"""A CSV or Parquet file with the name of its target is a seed; what cannot be learned is one clear error."""

from pathlib import Path

import polars as pl
import pytest

from sandmill.errors import SeedError
from sandmill.models.structure import TargetKind
from sandmill.seeds import ingest, survey

PRICES = pl.DataFrame(
    {
        "house": [f"h{n}" for n in range(60)],
        "area": [40.5 + n % 17 for n in range(60)],
        "town": ["A", "B", "C"] * 20,
        "price": [900.5 + 7 * (n % 17) for n in range(60)],
        "number": list(range(100, 160)),
        "same": [3] * 60,
        "remark": [f"a quiet place near stop {n} of the tram" for n in range(60)],
    }
)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_with_its_target_is_a_seed(written, suffix):
    written.file("House Prices.csv", PRICES.write_csv())
    PRICES.write_parquet("House Prices.parquet")
    seed = ingest((f"House Prices.{suffix}:price",)).supported[0]
    assert (seed.id, seed.title, seed.origin) == ("house-prices", "House Prices", "folder")
    assert (seed.structure.target, seed.structure.profile.n_columns) == (TargetKind.REGRESSION, 4)
    assert "price" in seed.summary


def test_a_colon_in_a_target_and_in_the_name_of_a_file_is_only_a_character(written):
    written.file("t.csv", PRICES.rename({"price": "price: net"}).write_csv())
    assert ingest(("t.csv:price: net",)).supported[0].structure.target is TargetKind.REGRESSION
    written.table("a", "x,late\n" + "1,0\n2,1\n" * 20)
    Path("a").rename("a.csv:b")
    assert ingest(("a.csv:b",)).supported[0].id == "a"


def test_limits_of_size_are_said(written):
    written.file("few.csv", "x,late\n1,0\n2,1\n3,0\n")
    with pytest.raises(SeedError, match="saw 3 rows with a target; expected at least 10"):
        ingest(("few.csv:late",))


def test_progress_counts_the_sources(written):
    for name in ("a", "b"):
        written.table(f"all/{name}", "x,late\n" + "1,0\n2,1\n" * 20)
    seen = []
    survey(("all",), lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2)]
