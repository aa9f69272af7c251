"""Cards and what cannot be made of them yet."""

import pytest
import yaml

from sandmill.errors import SeedError
from sandmill.fingerprint import fingerprint
from sandmill.metrics import encoding_for
from sandmill.metrics.support import SUPPORTED_TASKS
from sandmill.models.seed import SeedTask
from sandmill.models.structure import MetricName, Modality, SplitKind, Structure, TargetKind
from sandmill.seeds import ingest, missing_support
from sandmill.seeds.cards import bundled_cards


def test_the_bundled_cards_hold_all_three_target_kinds_and_one_seed_that_waits():
    intake = ingest(())
    assert {seed.structure.target for seed in intake.supported} == set(SUPPORTED_TASKS)
    assert len(intake.supported) == 7
    assert [(seed.id, seed.needs) for seed in intake.unsupported] == [
        (
            "nomad2018-predict-transparent-conductors",
            ("modality mixed", "target multi_target", "metric rmsle_columns"),
        )
    ]


def test_a_bundled_card_is_named_as_its_seed_and_states_source_and_licence():
    for path, _ in bundled_cards():
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert data["id"] == path.stem
        assert data["source"]
        assert data["licence"]


def test_a_card_a_folder_of_cards_and_the_same_card_by_another_suffix_say_the_same(written):
    written.file("one/a.yaml", written.card_text)
    written.file("b.yml", written.card_text)
    assert ingest(("one",)) == ingest(("one/a.yaml",)) == ingest(("b.yml",))


def test_seeds_keep_the_order_of_their_sources(written):
    for name in ("zebra", "ant", "moth"):
        written.file(f"{name}.yaml", written.card_text.replace("parcel-delays", name))
    assert [seed.id for seed in ingest(("zebra.yaml", "ant.yaml", "moth.yaml")).supported] == ["zebra", "ant", "moth"]


def test_a_card_may_be_a_link(written, tmp_path):
    real = written.file("real/card.yaml", written.card_text)
    (tmp_path / "linked.yaml").symlink_to(real)
    assert ingest(("linked.yaml",)).supported[0].id == "parcel-delays"


def test_a_card_may_name_its_own_origin_and_has_the_identity_of_the_seed_it_states(written):
    written.file("a.yaml", written.card_text)
    written.file("b.yaml", written.card_text + "origin: card\n")
    first, second = (ingest((name,)).supported[0] for name in ("a.yaml", "b.yaml"))
    assert type(first) is SeedTask
    assert fingerprint(first) == fingerprint(second) == fingerprint(SeedTask.model_validate(first.model_dump()))


@pytest.mark.parametrize(
    ("change", "needs"),
    [
        ({"modality": Modality.IMAGE}, ("modality image",)),
        ({"split": SplitKind.GROUPED}, ("split grouped",)),
        ({"split": SplitKind.STRATIFIED}, ()),
        ({"metric": MetricName.RMSE}, ("metric rmse with target binary",)),
        ({"metric": MetricName.QWK, "target": TargetKind.ORDINAL}, ("target ordinal", "metric qwk")),
        ({"metric": MetricName.ACCURACY, "target": TargetKind.ORDINAL}, ("target ordinal",)),
        ({"n_targets": 2}, ("2 targets",)),
        ({}, ()),
    ],
)
def test_needs_name_what_cannot_be_made(change, needs):
    whole = {"modality": Modality.TABULAR, "target": TargetKind.BINARY, "metric": MetricName.ROC_AUC} | change
    assert missing_support(Structure(**whole)) == needs


def test_every_supported_pair_can_be_graded():
    for target, metrics in SUPPORTED_TASKS.items():
        for metric in metrics:
            assert encoding_for(target, metric)


def test_a_build_with_nothing_supported_is_an_error_that_says_what_is_needed(written):
    written.file("images.yaml", written.card_text.replace("tabular", "image"))
    with pytest.raises(SeedError, match="modality image"):
        ingest(("images.yaml",))
