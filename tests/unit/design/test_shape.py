"""Designs have the classes, columns, laws, gaps and correlations of their seed's table."""

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from sandmill.design import design_task
from sandmill.design.columns import exact_shares
from sandmill.design.conditions import choose_conditions
from sandmill.design.grammar import least_class_rows
from sandmill.design.laws import count_distinct, law_like, level_shares
from sandmill.design.llm.conversation import describe_structure
from sandmill.design.shape import check_draft, shape_of
from sandmill.design.shaping import shape_vocabulary
from sandmill.design.vocabulary import Vocabulary
from sandmill.errors import ItemRejected
from sandmill.kinds.library import load_domains, load_spare_words
from sandmill.kinds.table import TABLE
from sandmill.mechanism import draw_rows
from sandmill.mechanism.columns import quantile
from sandmill.models.base import Band
from sandmill.models.columns import Categorical, Column, Date, Identity, LogNormal, Quantiles, Unit
from sandmill.models.design_draft import DesignDraft
from sandmill.models.domain import NumericWord
from sandmill.models.links import class_names
from sandmill.models.motifs import columns_of
from sandmill.models.plan import Slot
from sandmill.models.profile import ColumnProfile, TableProfile
from sandmill.models.structure import ColumnMix, MetricName, PathologyKind, SplitKind, Structure, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed, make_spec

PRICE = NumericWord(
    name="price_eur", meaning="Price in euros", decimals=2, distribution=LogNormal(median=50, sigma=0.4)
)


def column(role, levels, distinct=None, **traits):
    return ColumnProfile(role=role, levels=levels, distinct_share=distinct or levels / 150, **traits)


def smooth(missing=0.0):
    return column("real", 400, 0.99, top_share=0.01, skew=0.6, kurtosis=0.3, missing=missing)


THIN = (smooth(), *(column("category", levels, top_share=0.4) for levels in (5, 3, 8, 4)))
WIDE = (
    *(smooth(0.3 if place < 4 else 0.0) for place in range(8)),
    *(column("whole", 6, 0.04, top_share=0.6, skew=1.5, kurtosis=2) for _ in range(6)),
    *(column("whole", 900, 0.95, top_share=0.01, skew=0.2, kurtosis=-1) for _ in range(4)),
    *(column("binary", 2, 0.013, top_share=0.8) for _ in range(7)),
    *(column("category", levels, top_share=0.3) for levels in (4, 6, 11)),
    column("category", 90, 0.4, top_share=0.05, missing=0.1),
    column("date", 500, 0.9),
    column("text", 1000, 1.0),
)


def structure(columns=THIN, target=TargetKind.MULTICLASS, metric=MetricName.ACCURACY, **changes):
    shares = (0.4, 0.25, 0.2, 0.1, 0.05) if target is TargetKind.MULTICLASS else ()
    given = {"class_shares": shares, "rho_share": 0.4, "rho_mean": 0.28, **changes.pop("profile", {})}
    profile = TableProfile(rows=1000, n_columns=len(columns), columns=columns, **given)
    mix = {
        "numeric": sum(one.role in ("real", "whole") for one in columns),
        "categorical": sum(one.role in ("category", "binary") for one in columns),
        "date": sum(one.role == "date" for one in columns),
        "text": sum(one.role == "text" for one in columns),
    }
    missing = float(np.mean([one.missing for one in columns]))
    several = {"n_classes": len(given["class_shares"])} if target is TargetKind.MULTICLASS else {}
    settings = {"missing_share": round(missing, 4), "columns": ColumnMix(**mix), "profile": profile} | several
    return Structure(modality="tabular", target=target, metric=metric, **{**settings, **changes})


def seed_of(asked):
    return make_seed(TargetKind.BINARY, MetricName.ROC_AUC).model_copy(update={"structure": asked})


@cache
def designed(asked, number=0, hardness=0.3, band=Band.MEDIUM):
    slot = Slot(number=number, seed=seed_of(asked), band=band)
    return design_task(slot, Streams(SECRET, f"shape {number}"), hardness)


def kind_of_column(column):
    law = column.distribution
    if isinstance(law, Date):
        return "date"
    if isinstance(law, Categorical):
        return "binary" if len(law.levels) == 2 else "category"
    is_bit = isinstance(law, Quantiles) and law.grid == 1 and law.values[-1] <= 1
    return "binary" if is_bit else "whole" if column.decimals == 0 else "real"


def kinds(spec):
    found = [kind_of_column(column) for column in spec.mechanism.columns if not column.in_text]
    return {kind: found.count(kind) for kind in found}


@pytest.mark.parametrize("number", range(3))
def test_a_small_table_gives_its_classes_its_number_and_its_categories(number):
    spec = designed(structure(), number)
    assert len(class_names(spec.mechanism.link)) == 5
    assert kinds(spec) == {"real": 1, "category": 4}
    levels = sorted(len(c.distribution.levels) for c in spec.mechanism.columns if kind_of_column(c) == "category")
    assert np.max(np.abs(np.log(np.array(levels) / [3, 4, 5, 8]))) < np.log(1.5)


@pytest.mark.parametrize("number", range(2))
def test_a_wide_table_gives_its_mix(number):
    spec = designed(structure(WIDE), number)
    found = kinds(spec)
    wanted = {"real": 8, "whole": 10, "binary": 7, "category": 4, "date": 1}
    moved = sum(column.in_text for column in spec.mechanism.columns)
    assert spec.notes is not None
    distance = sum(abs(found.get(kind, 0) - count) for kind, count in wanted.items())
    assert distance <= 2 + moved
    levels = [len(c.distribution.levels) for c in spec.mechanism.columns if kind_of_column(c) == "category"]
    assert max(levels) > 60


@pytest.mark.parametrize("number", range(3))
def test_gaps_lie_in_as_many_columns_and_hardly_any_in_the_rule(number):
    spec = designed(structure(WIDE), number)
    gaps = spec.mechanism.missing()
    assert 4 <= len(gaps) <= 5
    assert max(gap.rate for gap in gaps) == 0.3
    assert sum(gap.column in spec.mechanism.rule_columns for gap in gaps) <= 2


def test_numbers_are_correlated_as_in_the_table():
    found = []
    for number in range(3):
        spec = designed(structure(WIDE), number)
        cells = draw_rows(spec.mechanism, Streams(SECRET, "rho"), range(3000), is_train=True).complete
        numbers = [c.name for c in spec.mechanism.columns if kind_of_column(c) in ("real", "whole")]
        ranks = np.array([np.argsort(np.argsort(cells[name])) for name in numbers])
        rho = np.abs(np.corrcoef(ranks))[np.triu_indices(len(numbers), 1)]
        found.append((np.mean(rho > 0.3), rho.mean()))
    shares, means = np.mean(found, axis=0)
    assert abs(shares - 0.4) < 0.15
    assert abs(means - 0.28) < 0.1


def test_class_shares_are_those_of_the_table_but_every_class_keeps_some_rows():
    spec = designed(structure(profile={"class_shares": (0.7, 0.2, 0.09, 0.009, 0.001)}), hardness=0.0)
    target = draw_rows(spec.mechanism, Streams(SECRET, "large"), range(20_000), is_train=False).target
    shares = sorted(np.bincount(target.astype(int)) / 20_000, reverse=True)
    least = least_class_rows(spec.structure) / spec.sizes.train
    noise = spec.mechanism.label_noise()
    slack = 0.03 if noise is None or noise.where == "train" else 0.1
    assert abs(shares[0] - 0.7) < slack + 0.1
    assert shares[-1] > 0.8 * least


def test_tables_of_few_columns_state_facts_over_them_in_the_description():
    """Neither of the seeds has a data dictionary, and few of a domain's own facts fit their columns."""
    kinds_told, tables = Counter(), 0
    for asked in (structure(WIDE), structure(THIN)):
        for number in range(4):
            spec = designed(asked, number, hardness=0.6, band=Band.HARD)
            forms = [hint for hint in spec.hints if hint.matters]
            assert forms
            kinds_told.update(hint.fact.motif.motif for hint in forms if hint.fact.fact == "form")
            names = {column.name for column in spec.mechanism.columns}
            assert all(set(columns_of(term.motif)) <= names for term in spec.mechanism.terms)
            assert {passage.file for hint in spec.hints for passage in hint.passages} == {"description.md"}
            tables += any("\n" in hint.text for hint in spec.hints)
    assert {"formula", "conditional", "norm_distance", "code_value"} <= set(kinds_told)
    assert tables >= 2


@pytest.mark.parametrize(
    ("role", "levels", "top", "distinct", "wanted_skew", "wanted_kurtosis", "is_free"),
    [
        ("real", 500, 0.01, 0.99, 1.5, 3.0, False),
        ("real", 100, 0.3, 0.4, 2.0, 5.0, False),
        ("real", 500, 0.01, 0.95, -1.0, 1.0, False),
        ("whole", 6, 0.6, 0.04, 1.5, 2.0, True),
        ("whole", 60, 0.1, 0.25, 0.2, -0.9, True),
        ("whole", 1000, 0.92, 0.07, 8.0, 50.0, True),
        ("whole", 400, 0.01, 0.9, 0.1, -1.2, True),
    ],
)
def test_a_law_has_the_shape_of_the_seeds_column(role, levels, top, distinct, wanted_skew, wanted_kurtosis, is_free):
    like = column(role, levels, distinct, top_share=top, skew=wanted_skew, kurtosis=wanted_kurtosis)
    law, decimals = law_like(PRICE, like, is_free=is_free)
    u = np.random.default_rng(0).random((40, 150))
    cells = quantile(Column(name="a", distribution=law, decimals=decimals), u)
    counts = [np.unique(row, return_counts=True)[1] for row in cells]
    assert abs(np.arcsinh(np.median(skew(cells, axis=1))) - np.arcsinh(wanted_skew)) < 0.4
    assert abs(np.arcsinh(np.median(kurtosis(cells, axis=1))) - np.arcsinh(wanted_kurtosis)) < 0.8
    assert abs(np.median([found.max() / 150 for found in counts]) - top) < 0.1
    assert abs(np.median([len(found) / 150 for found in counts]) - distinct) < 0.15
    assert cells.min() >= 0


@pytest.mark.parametrize(
    ("top", "skewness", "least", "most"), [(0.4, 3.0, 0.25, 0.55), (0.8, 4.0, 0.35, 0.65), (0.05, 0.5, 0.0, 0.3)]
)
def test_counts_are_zero_as_often_as_in_the_table(top, skewness, least, most):
    traits = {"target_top_share": top, "target_skew": skewness}
    asked = structure(WIDE, TargetKind.COUNT, MetricName.RMSLE, profile=traits)
    target = draw_rows(designed(asked).mechanism, Streams(SECRET, "zeros"), range(4000), is_train=False).target
    assert least <= np.mean(target == 0) <= most


@pytest.mark.parametrize("count", [2, 17, 100])
def test_shares_of_levels_show_as_many_levels_as_wanted_and_survive_rounding(count):
    for top, wanted in ((0.0, 2), (0.05, 60), (0.5, 60), (0.99, 110)):
        drawn = level_shares(count, top, wanted)
        shares = exact_shares(drawn, 0.002 if count >= 17 else 0.01)
        assert min(shares) > 0
        assert abs(sum(shares) - 1) < 1e-6
        assert max(drawn) == drawn[0]
        assert (count, top) != (100, 0.05) or abs(count_distinct(np.array(drawn)) - 60) < 8


def test_names_and_meanings_of_added_columns_are_their_own():
    words = load_spare_words()
    named = [*words.numbers, *words.counts, *words.flags, *words.pairs, *words.categories, *words.many_levels]
    names = [word.name for word in named]
    assert len(set(names)) == len(names)
    assert len({word.meaning for word in named}) == len(names)
    known = {word.name for domain in load_domains() for word in (*domain.numeric, *domain.categorical)}
    assert not known & set(names)
    asked = shape_of(structure((*WIDE, *WIDE[:28])), TABLE)
    for domain in load_domains()[::7]:
        vocabulary = shape_vocabulary(Vocabulary(domain, (), None, None), asked, (), Streams(SECRET, "names"))
        found = [word.name for word in vocabulary.words]
        wanted = len(asked.numbers) + len(asked.flags) + len(asked.categories)
        # One number may be left to an identity.
        assert len(set(found)) == len(found)
        assert len(found) in (wanted - 1, wanted)


def test_a_card_gives_its_numbers_of_columns_and_no_categories_if_it_has_none():
    for mix in (ColumnMix(numeric=4), ColumnMix(numeric=2, categorical=9), ColumnMix(numeric=30, categorical=10)):
        seed = make_seed(TargetKind.REGRESSION, MetricName.RMSE)
        asked = seed.structure.model_copy(update={"columns": mix})
        spec = designed(asked, band=Band.EASY)
        found = kinds(spec)
        numbers = found.get("real", 0) + found.get("whole", 0)
        assert abs(numbers - mix.numeric) <= 1
        assert found.get("category", 0) + found.get("binary", 0) == mix.categorical


def test_a_split_by_group_has_a_unit_in_place_of_a_category():
    spec = designed(structure(WIDE, split=SplitKind.GROUPED))
    assert kinds(spec)["category"] == 3
    assert spec.mechanism.unit_column()


def test_a_draft_of_too_few_classes_is_rejected_with_the_trait():
    domain = load_domains()[0]
    motifs = tuple({"kind": "linear", "columns": (word.name,)} for word in domain.numeric[:4])
    draft = DesignDraft(domain=domain, motifs=motifs, metric="accuracy", split="random")
    asked = structure(WIDE, profile={"class_shares": (1 / 12,) * 12})
    with pytest.raises(ItemRejected, match="number of classes is 11; 12 are needed"):
        check_draft(asked, shape_of(asked, TABLE), draft)
    with pytest.raises(ItemRejected, match="they use 4 numeric columns"):
        check_draft(structure(), shape_of(structure(), TABLE), draft)


def test_the_language_model_is_told_the_structure_and_none_of_the_cells():
    text = describe_structure(structure(WIDE))
    assert "kinds of columns: 8 real, 10 whole, 7 binary, 4 category, 1 date, 1 text" in text
    assert "values of the categorical columns: 4 to 90" in text
    assert "motifs may use at most 18 quantities and 4 categories" in text
    assert "kinds of columns" not in describe_structure(make_seed(TargetKind.BINARY, MetricName.ROC_AUC).structure)


def test_nothing_declared_asks_for_nothing():
    seed = make_seed(TargetKind.BINARY, MetricName.ROC_AUC)
    assert shape_of(seed.structure.model_copy(update={"columns": ColumnMix()}), TABLE) is None
    assert shape_of(seed.structure, TABLE) is not None
    only_text = structure((column("text", 900, 1.0),))
    assert shape_of(only_text, TABLE) is None
    assert designed(only_text).mechanism.terms


BINARY = (TargetKind.BINARY, MetricName.ROC_AUC)
CLASSES = {TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL}
ANY = range(40)


def frame_of(task=BINARY, number=0, columns=None, **changes):
    structure = make_seed(*task, **changes).structure
    if columns:
        structure = structure.model_copy(update={"columns": columns})
    return choose_conditions(structure, Streams(SECRET, f"frame {number}"))


@pytest.mark.parametrize("kind", PathologyKind)
def test_a_frame_has_every_fault_of_its_seed(kind):
    for split, number in product(SplitKind, range(5)):
        if not (kind is PathologyKind.GROUPS and split is SplitKind.TEMPORAL):
            assert kind in frame_of(number=number, split=split, pathologies=(kind,)).faults


@pytest.mark.parametrize("split", SplitKind)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: "-".join(task))
def test_a_declared_split_is_kept_where_the_target_allows_it(task, split):
    found = {frame_of(task, number, split=split).split for number in ANY}
    has_strata = split is not SplitKind.STRATIFIED or task[0] in CLASSES
    assert found == {split if has_strata else SplitKind.RANDOM}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: "-".join(task))
def test_a_split_that_is_not_declared_is_random_or_stratified_for_classes(task):
    found = {frame_of(task, number).split for number in ANY}
    assert found == ({SplitKind.RANDOM, SplitKind.STRATIFIED} if task[0] in CLASSES else {SplitKind.RANDOM})


def test_a_split_by_time_has_a_date_and_drifts():
    conditions = frame_of(split=SplitKind.TEMPORAL)
    assert conditions.has_date
    assert PathologyKind.DRIFT in conditions.faults
    assert {frame_of(number=number, columns=ColumnMix()).has_date for number in ANY} == {True, False}
    assert {frame_of(number=number).has_date for number in ANY} == {False}
    assert frame_of(columns=ColumnMix(numeric=3, date=1)).has_date
    assert frame_of(pathologies=(PathologyKind.DRIFT,)).has_date


def test_imbalance_makes_strata_unless_another_split_is_declared_and_gaps_follow_the_seeds_share():
    assert frame_of(pathologies=(PathologyKind.IMBALANCE,)).split is SplitKind.STRATIFIED
    declared = frame_of(split=SplitKind.RANDOM, pathologies=(PathologyKind.IMBALANCE,))
    assert declared.split is SplitKind.RANDOM
    assert PathologyKind.MISSING not in frame_of(missing_share=0.0).faults
    assert PathologyKind.MISSING in frame_of(missing_share=0.01).faults


@pytest.mark.parametrize(
    ("metric", "pathologies", "share", "expected"),
    [
        (MetricName.ROC_AUC, (PathologyKind.IMBALANCE,), 0.002, 0.0),
        (MetricName.ACCURACY, (PathologyKind.IMBALANCE,), 0.05, 0.2),
        (MetricName.ROC_AUC, (), 0.49, 0.42),
    ],
)
def test_imbalance_reaches_the_seeds_share_within_bounds(metric, pathologies, share, expected):
    seed = make_seed(TargetKind.BINARY, metric, pathologies=pathologies)
    structure = seed.structure.model_copy(update={"positive_share": share})
    slot = Slot(number=0, seed=seed.model_copy(update={"structure": structure}), band=Band.EASY)
    mechanism = design_task(slot, Streams(SECRET, "shares"), 1.0).mechanism
    draw = draw_rows(mechanism, Streams(SECRET, "large"), range(30_000), is_train=False)
    noise = mechanism.label_noise()
    rate = noise.rate if noise and noise.where == "both" else 0.0
    least = least_class_rows(structure) / (200 if share == 0.002 else 80)
    designed = min(max(expected, least), 1 - least)
    wanted = designed * (1 - rate) + (1 - designed) * rate
    assert abs(np.mean(draw.target) - wanted) < 0.02


@pytest.mark.parametrize(("metric", "rows"), [(MetricName.ACCURACY, 125), (MetricName.LOG_LOSS, 200)])
def test_rare_classes_of_a_table_bring_more_training_rows_and_a_stratified_split(metric, rows):
    asked = structure(metric=metric, profile={"class_shares": (0.6, 0.36, 0.04)})
    specs = [designed(asked, number, 1.0) for number in range(12)]
    assert {spec.sizes.train for spec in specs} == {rows}
    assert {designed(structure(), 0, 1.0).sizes.train} == {100}
    assert sum(spec.split is SplitKind.STRATIFIED for spec in specs) > 6
    assert {spec.split for spec in specs} <= {SplitKind.STRATIFIED, SplitKind.RANDOM}


def kept(spec):
    """What hardness must not change."""
    mechanism = spec.mechanism
    date = [column for column in mechanism.columns if isinstance(column.distribution, Date)]
    unit = [column.distribution for column in mechanism.columns if isinstance(column.distribution, Unit)]
    noise = mechanism.label_noise()
    return (
        spec.domain,
        spec.story.overview,
        spec.story.units,
        spec.split,
        [column.distribution for column in date],
        unit,
        noise and noise.where,
        mechanism.duplicates(),
        spec.structure,
    )


@pytest.mark.parametrize(("task", "split"), list(zip(TASKS[::3], SplitKind, strict=True)))
def test_hardness_changes_neither_domain_nor_target_nor_split_nor_unit(task, split):
    faults = (PathologyKind.TIMESTAMPS, PathologyKind.LABEL_NOISE, PathologyKind.DUPLICATES)
    specs = [make_spec(*task, 7, hardness, split=split, pathologies=faults) for hardness in (0.0, 1.0)]
    assert kept(specs[0]) == kept(specs[1])
    assert len({spec.story.target for spec in specs}) == 1
    assert len({type(spec.mechanism.link) for spec in specs}) == 1
    if task[0] not in (TargetKind.ORDINAL, TargetKind.MULTILABEL):
        assert len({spec.story.target_meaning for spec in specs}) == 1
    assert len(class_names(specs[0].mechanism.link)) <= len(class_names(specs[-1].mechanism.link))
    by_name = [{column.name: column for column in spec.mechanism.columns} for spec in specs]
    for name in set(by_name[0]) & set(by_name[1]):
        assert unscaled(by_name[0][name]) == unscaled(by_name[1][name])


def unscaled(column):
    """Return what a design fixes of a column. Centre and scale of a sum of columns depend on the draw."""
    measured = {"center", "scale"} if isinstance(column.distribution, Identity) else set()
    return column.distribution.model_dump(exclude=measured)
