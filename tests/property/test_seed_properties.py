"""Whatever lies in a source, ingestion ends with seeds or with a SeedError."""

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.errors import SeedError
from sandmill.seeds import ingest

GOOD = """\
id: parcel-delays
title: Late parcels
summary: Tell which parcels arrive late.
structure: {modality: tabular, target: binary, metric: roc_auc}
source: our own depot
licence: CC0
"""
TABLE = "id: t\ntitle: t\nsummary: s\nsource: s\nlicence: l\ntarget: y\n"

hostile_words = st.sampled_from(
    [
        *(
            "&a ",
            "*a",
            "<<: ",
            "!!python/name:os.system ",
            "!!binary ",
            "!!int ",
            "!!float ",
            "!!bool ",
            "\t",
            "? ",
            "| \n",
        ),
        *("- " * 40, "[" * 200, "{" * 200, "0x", "0x" + "f" * 5000, "1:99:99", "1" + ":59" * 3000, "9" * 5000, "---\n"),
        *("%YAML 9.9\n", "\t", ".nan", "-.inf", "2020-99-99", "\x00", "\ud7ff", "\u2028"),
    ]
)
json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _ingest_only_fails_as_it_should(**files):
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name.replace("__", ".")).write_bytes(content)
        with contextlib.suppress(SeedError):
            ingest((folder,))


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_as_a_card_give_seeds_or_a_seed_error(content):
    _ingest_only_fails_as_it_should(card__yaml=content)


@settings(deadline=None)
@given(st.lists(st.text(max_size=12) | hostile_words | st.sampled_from(GOOD.splitlines(keepends=True)), max_size=12))
def test_any_text_as_a_card_gives_seeds_or_a_seed_error(parts):
    _ingest_only_fails_as_it_should(card__yaml="".join(parts).encode("utf-8", "surrogatepass"))


@settings(deadline=None)
@given(st.sampled_from([*sorted(yaml.safe_load(GOOD)), "profile", "origin"]), json_like)
def test_any_value_in_any_field_gives_seeds_or_a_seed_error(field, value):
    card = yaml.safe_load(GOOD) | {field: value}
    _ingest_only_fails_as_it_should(card__yaml=yaml.safe_dump(card, allow_unicode=True).encode("utf-8", "replace"))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200) | st.text('ay,"\n\r;.0123456789\u00e9', max_size=200).map(str.encode))
def test_any_bytes_as_a_table_give_seeds_or_a_seed_error(content):
    _ingest_only_fails_as_it_should(seed__yaml=TABLE.encode(), t__csv=b"x,y\n1,0\n2,1\n" + content)
    _ingest_only_fails_as_it_should(seed__yaml=TABLE.encode(), t__csv=content)
    _ingest_only_fails_as_it_should(seed__yaml=TABLE.encode(), t__parquet=b"PAR1" + content + b"PAR1")


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_in_a_competition_folder_give_seeds_or_a_seed_error(config, text, board):
    good = b"id: a\nname: A\ngrader: {name: rmse}\n"
    _ingest_only_fails_as_it_should(
        config__yaml=good + config, description__md=text, leaderboard__csv=b"score\n" + board
    )
    _ingest_only_fails_as_it_should(config__yaml=config, description__md=b"# T\n\ntext\n", leaderboard__csv=board)


def test_a_bomb_of_anchors_is_refused_before_it_unfolds(tmp_path):
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    (tmp_path / "card.yaml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SeedError, match="anchor"):
        ingest((str(tmp_path),))
