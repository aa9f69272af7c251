"""Folders of seeds: every child is a source, and one that cannot be used says so."""

import os
from pathlib import Path

import polars as pl
import pytest

from sandmill.errors import SeedError
from sandmill.fingerprint import fingerprint
from sandmill.models.seed import SeedTask, SkippedSource
from sandmill.models.structure import MetricName, Modality, PathologyKind, SplitKind, Structure, TargetKind
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, SUPPORTED_TASKS
from sandmill.seeds import ingest, missing_support, survey
from sandmill.seeds.cards import LITE, bundled_cards, read_card

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


def test_every_child_of_a_folder_but_hidden_ones_is_a_source_or_skipped_with_the_reason(written):
    intake = ingest((_mixed(written),))
    assert [seed.id for seed in intake.supported] == ["parcel-delays", "c-table"]
    assert [seed.id for seed in intake.unsupported] == ["a-competition", "d-competition"]
    assert ingest(("all/",)).supported == intake.supported
    assert intake.skipped == (
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


BUNDLED = tuple(read_card(path, file).seed for path, file in bundled_cards())


def test_many_of_the_bundled_cards_can_be_built_on_and_the_others_say_what_they_need():
    intake = ingest(())
    assert len(intake.supported) >= 22
    rendered = {target for target, _ in RENDERED_FORMS}
    assert set(SUPPORTED_TASKS) <= {seed.structure.target for seed in intake.supported} <= {*SUPPORTED_TASKS, *rendered}
    assert len(intake.supported) + len(intake.unsupported) == len(BUNDLED)
    assert [seed.id for seed in intake.unsupported if not seed.needs] == []


def test_every_competition_of_the_low_split_of_mle_bench_has_a_card():
    assert len(LITE) == 22
    assert LITE - {card.id for card in BUNDLED} == set()


@pytest.mark.parametrize("card", BUNDLED, ids=lambda card: card.id)
def test_a_bundled_card_is_short_consistent_and_names_its_source(card):
    structure = card.structure
    assert 60 <= len(card.summary) <= 400
    assert card.summary.endswith(".")
    assert max(len(sentence.split()) for sentence in card.summary.split(". ")) <= 40
    assert len(card.title) <= 60
    assert len(card.source) >= 20
    assert card.licence
    assert structure.positive_share is None or structure.target is TargetKind.BINARY
    is_rare = structure.positive_share and min(structure.positive_share, 1 - structure.positive_share) < 0.125
    assert not is_rare or PathologyKind.IMBALANCE in structure.pathologies
    assert structure.missing_share == 0 or PathologyKind.MISSING in structure.pathologies
    assert structure.split is not SplitKind.GROUPED or PathologyKind.GROUPS in structure.pathologies
    several = {TargetKind.MULTILABEL, TargetKind.MULTI_TARGET}
    assert (structure.n_targets > 1) == (structure.target in several)
    assert structure.n_classes or structure.target not in {TargetKind.MULTICLASS, TargetKind.ORDINAL}
    is_graded = (structure.target, structure.metric) in ANSWER_FORMS
    assert is_graded or structure.target in {TargetKind.MASK, TargetKind.SEQUENCE}


def test_a_bundled_card_is_named_as_its_seed_and_no_two_say_the_same():
    assert [path.stem for path, _ in bundled_cards()] == [card.id for card in BUNDLED]
    for field in ("id", "title", "summary"):
        assert len({getattr(card, field) for card in BUNDLED}) == len(BUNDLED)


def test_a_card_a_folder_of_cards_and_the_same_card_by_another_suffix_say_the_same(written):
    written.file("one/a.yaml", written.card_text)
    written.file("b.yml", written.card_text)
    assert ingest(("one",)) == ingest(("one/a.yaml",)) == ingest(("b.yml",))


def test_a_card_may_name_its_own_origin_and_has_the_identity_of_the_seed_it_states(written):
    written.file("a.yaml", written.card_text)
    written.file("b.yaml", written.card_text + "origin: card\n")
    first, second = (ingest((name,)).supported[0] for name in ("a.yaml", "b.yaml"))
    assert type(first) is SeedTask
    assert fingerprint(first) == fingerprint(second) == fingerprint(SeedTask.model_validate(first.model_dump()))


@pytest.mark.parametrize(
    ("change", "needs"),
    [
        ({"modality": Modality.TIME_SERIES}, ("modality time_series with this target and metric",)),
        ({"metric": MetricName.RMSE}, ("metric rmse with target binary",)),
        ({"metric": MetricName.ACCURACY, "target": TargetKind.SEQUENCE}, ("metric accuracy with target sequence",)),
        ({"n_targets": 2}, ("2 targets",)),
        ({}, ()),
    ],
)
def test_needs_name_what_cannot_be_made(change, needs):
    whole = {"modality": Modality.TABULAR, "target": TargetKind.BINARY, "metric": MetricName.ROC_AUC} | change
    assert missing_support(Structure(**whole)) == needs
