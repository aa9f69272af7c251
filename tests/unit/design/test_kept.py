"""What becomes of each trait of a seed is known before anything is built."""

from sandmill.design.kept import forecast
from sandmill.models.structure import ColumnMix, MetricName, Modality, SplitKind, TargetKind
from tests.designs import make_seed
from tests.unit.design.test_shape import WIDE, column, structure


def fates(asked):
    return {one.trait: one for one in forecast(asked)}


def test_what_micro_scale_bends_is_named_with_what_it_becomes():
    shares = (0.5, *[0.5 / 39] * 39)
    asked = structure(profile={"class_shares": shares})
    wide = asked.profile.model_copy(update={"n_columns": 75, "linear_score": 0.4})
    many = fates(asked.model_copy(update={"profile": wide}))
    assert (many["outputs"].fate, many["outputs"].value, many["outputs"].becomes) == ("bent", 40, 12)
    assert (many["class_entropy"].fate, many["n_columns"].becomes) == ("bent", 60)
    assert (many["linear"].fate, many["target"].fate) == ("bent", "kept")
    rare = fates(structure(profile={"class_shares": (0.97, 0.02, 0.01)}))
    assert (rare["rarest_class"].fate, rare["rarest_class"].becomes) == ("bent", round(8 / 150, 4))
    two = structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, positive_share=0.02)
    two = two.model_copy(update={"profile": two.profile.model_copy(update={"class_shares": (0.98, 0.02)})})
    assert (fates(two)["rarest_class"].becomes, fates(two)["top_class"].fate) == (0.04, "kept")
    strata = structure(target=TargetKind.REGRESSION, metric=MetricName.RMSE, split=SplitKind.STRATIFIED)
    assert (fates(strata)["split"].fate, fates(strata)["split"].becomes) == ("bent", "random")


def test_the_bands_that_keep_the_scores_of_a_seed_are_named():
    scores = {"linear_score": 0.45, "boosting_score": 0.45}
    found = fates(structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=scores))["boosting"]
    assert found.fate == "bent"
    assert found.why.startswith("kept about in easy and medium tasks; in others the difficulty band")
    sure = {"linear_score": 1.0, "boosting_score": 1.0}
    found = fates(structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=sure))["boosting"]
    assert found.why.startswith("the difficulty band")


def test_a_second_date_and_a_second_text_are_bent():
    assert fates(structure(WIDE))["mix"].fate == "kept"
    for role in ("date", "text"):
        found = fates(structure((*WIDE, column(role, 300, 0.9))))
        assert (found["mix"].fate, found["n_columns"].fate, found["has_date"].fate) == ("bent", "bent", "kept")


def test_traits_that_designs_do_not_take_over_are_dropped():
    spike = structure(target=TargetKind.COUNT, metric=MetricName.RMSLE, profile={"target_top_share": 0.4})
    assert fates(spike)["target_repeats"].fate == "dropped"
    seed = make_seed(TargetKind.BINARY, MetricName.ROC_AUC)
    image = seed.structure.model_copy(update={"modality": Modality.IMAGE, "columns": ColumnMix(numeric=3)})
    assert fates(image)["n_columns"].fate == "dropped"
    assert fates(seed.structure)["n_columns"].fate == "kept"
