"""Folders of seeds: every child is a source, and one that cannot be used says so."""

import os
from pathlib import Path

import polars as pl
import pytest

from sandmill.errors import SeedError
from sandmill.models.seed import SkippedSource
from sandmill.seeds import ingest, survey

ROWS = "x,y,late\n" + "".join(f"{n % 5},w{n % 3},{n % 2}\n" for n in range(30))


def _mixed(written):
    """A card, a table, two competitions, and what is no seed."""
    written.file("all/b-card.yaml", written.card_text)
    written.table("all/c-table", ROWS)
    written.competition("all/a-competition")
    written.competition("all/d-competition", "mean-angular-error")
    written.file("all/README.md", "Seeds.\n")
    written.file("all/e-notes/notes.txt", "")
    written.file("all/.hidden/card.yaml", written.card_text)
    written.file("all/.hidden.yaml", "not a card")
    Path("all/f-empty").mkdir()
    return "all"


def test_every_child_of_a_folder_is_a_source_in_the_order_of_names(written):
    intake = ingest((_mixed(written),))
    assert [seed.id for seed in intake.supported] == ["parcel-delays", "c-table"]
    assert [seed.id for seed in intake.unsupported] == ["a-competition", "d-competition"]
    assert ingest(("all/",)).supported == intake.supported


def test_what_is_no_seed_is_skipped_with_the_reason_and_hidden_children_are_not_looked_at(written):
    assert ingest((_mixed(written),)).skipped == (
        SkippedSource(source="all/README.md", reason="a .md file"),
        SkippedSource(source="all/e-notes", reason="a folder with notes.txt"),
        SkippedSource(source="all/f-empty", reason="an empty folder"),
    )


def test_a_malformed_card_or_table_in_a_folder_of_many_is_an_error_and_all_are_told(written):
    folder = _mixed(written)
    written.file("all/g-card.yaml", written.card_text.replace("binary", "binry"))
    written.table("all/h-table", ROWS, target="gone")
    with pytest.raises(SeedError) as error:
        ingest((folder,))
    assert error.value.exit_code == 2
    assert "g-card.yaml" in str(error.value)
    assert "h-table/seed.yaml" in str(error.value)


@pytest.mark.parametrize("name", ["description.md", "config.yaml", "prepared/public/train.csv"])
def test_a_pipe_in_a_competition_is_never_waited_for(written, name):
    folder = _mixed(written)
    pipe = Path("all/a-competition", name)
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    assert [seed.id for seed in ingest((folder,)).supported] == ["parcel-delays", "c-table"]


def test_a_table_that_an_engine_gives_up_on_is_a_problem_and_no_traceback(written, monkeypatch):
    written.table("odd", ROWS)
    monkeypatch.setattr("sandmill.seeds.tabular.class_shares", _give_up)
    with pytest.raises(SeedError, match=r"odd/table.csv: 1 problem\n  file: saw no full read; expected tables"):
        ingest(("odd",))


def _give_up(*_args, **_kwargs):
    raise pl.exceptions.ComputeError("no full read\nrun it single-threaded")


def test_a_folder_without_a_seed_is_an_error_and_so_is_one_in_which_none_can_be_used(written):
    written.file("docs/README.md", "")
    with pytest.raises(SeedError, match=r"a folder with README.md; expected .* or a folder of these"):
        ingest(("docs",))
    for name in ("one", "two"):
        written.competition(f"many/{name}")
    with pytest.raises(SeedError, match="expected at least one seed that can be made today"):
        ingest(("many",))
    assert [seed.id for seed in survey(("many",)).unsupported] == ["one", "two"]
