"""Figures on rollouts: their SQL against the figures of sandmill rollout, and what a section shows."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.models.rollout import FactCredit, TaskPlace
from sandmill.report.html.page import PageHead, machine_twin
from sandmill.report.overlay import PairedTask, overlay_section, paired_difference
from sandmill.report.queries import open_queries
from sandmill.report.rollouts import rollout_figures
from tests.overlay_rows import BANDS, LABELS, SMALL, fact, views_of

_PLACES = {
    name: TaskPlace(task_id=name, split="train", structure="tabular/binary/random", band=band, difficulty=0.5)
    for name, band in BANDS.items()
}
_ROLLOUTS = st.lists(
    st.tuples(st.sampled_from(sorted(BANDS)), st.sampled_from([0.0, 0.25, 1.0, None]), st.booleans()), max_size=14
).map(
    lambda drawn: [
        fact(task, number, reward, is_solved and reward is not None)
        for number, (task, reward, is_solved) in enumerate(drawn)
    ]
)


def _section(sets, edition="private", labels=LABELS, **given):
    with open_queries(views_of(sets, labels)) as queries:
        return overlay_section(
            queries, edition, labels[: len(sets)], given.pop("clusters", {}), given.pop("same", True)
        )


def _figure(section, figure_id):
    return next(one for one in section.figures if one.id == figure_id)


def _intervals(section):
    return next(iter(section.data["intervals"].values()))


@settings(deadline=None, max_examples=12)
@given(_ROLLOUTS)
def test_the_sql_agrees_with_the_figures_of_sandmill_rollout(rollouts):
    found, expected = _section([rollouts]), rollout_figures(rollouts, _PLACES)
    by_band = {row["band"]: row for row in _figure(found, "solve-rate-band").records()}
    assert list(by_band) == list(expected.bands)
    assert {band: row["solve_rate"] for band, row in by_band.items()} == pytest.approx(
        {band: group.medal for band, group in expected.bands.items()}, abs=1e-6
    )
    assert sum(row["rollouts"] for row in _figure(found, "rollout-rewards").records()) == expected.all.rollouts
    for row in _figure(found, "rollout-sets").records():
        assert (row["rollouts"], row["masked"]) == (expected.all.rollouts, expected.masked)
        if expected.all.rollouts:
            assert row["mean_reward"] == pytest.approx(expected.all.mean_reward, abs=1e-6)
            assert row["mean_gap"] == pytest.approx(expected.all.mean_gap, abs=1e-6)


def test_two_sets_are_compared_on_common_tasks():
    section = _section(SMALL)
    assert [(row["task_id"], row["difference"]) for row in _figure(section, "changed-2").records()] == [
        ("sm1", 0.425),
        ("sm2", -0.1),
        ("sm3", 0.05),
    ]
    rewards, *_ = _figure(section, "difference-2").records()
    found = _intervals(section)["reward"]
    assert (
        (rewards["tasks"], rewards["better"], rewards["worse"])
        == (found["tasks"], found["better"], found["worse"])
        == (3, 2, 1)
    )
    assert rewards["mean_difference"] == pytest.approx(found["mean"]) == pytest.approx(0.125)
    assert found["low"] < 0.125 < found["high"]
    assert _intervals(section)["solve rate"]["mean"] == pytest.approx(0.5 / 3, abs=1e-6)


def test_replicates_count_as_one_design():
    section = _section(SMALL, clusters={"sm1": "a", "sm2": "a", "sm3": "b"})
    assert {found["clusters"] for found in _intervals(section).values()} == {2}


def test_rewards_of_different_presets_are_not_compared():
    section = _section(SMALL, same=False)
    measures = [row["measure"] for row in _figure(section, "difference-2").records()]
    assert list(_intervals(section)) == measures == ["share of the gap", "solve rate"]


def test_the_public_edition_names_no_task_and_no_band():
    with open_queries({name: view for name, view in views_of(SMALL).items() if name != "private_tasks"}) as queries:
        section = overlay_section(queries, "public", LABELS, {}, same_rewards=True)
    head = PageHead(dataset="micro", version="0001-ab12cd34", edition="public")
    shown = section.html + machine_twin(head, [section]).decode() + json.dumps(section.data)
    assert not [word for word in (*BANDS, "band", "expert", "private_tasks") if word in shown]
    assert "tabular/binary" in shown


def test_texts_of_rollouts_are_escaped_and_ids_are_unique():
    section = _section(SMALL)
    assert "<100>" not in section.html
    assert "step &lt;100&gt; &amp; &#x27;more&#x27;" in section.html
    ids = [one.id for one in section.figures]
    assert len(ids) == len(set(ids))


def test_masked_rollouts_alone_make_a_section():
    section = _section([[fact("sm1", 0, None)], [fact("sm2", 0, 0.5)]])
    assert _intervals(section)["reward"]["mean"] is None
    assert "no task in common" in section.html


_MEANS = st.floats(0, 1).map(lambda value: round(value, 3))
_TASKS = st.lists(st.tuples(_MEANS, _MEANS, st.integers(0, 4)), max_size=12).map(
    lambda drawn: [
        PairedTask(task_id=f"sm{number}", cluster=f"design {cluster}", before=before, after=after)
        for number, (before, after, cluster) in enumerate(drawn)
    ]
)


@settings(deadline=None, max_examples=40)
@given(_TASKS, st.randoms())
def test_an_interval_holds_the_mean_and_does_not_depend_on_the_order(tasks, random):
    found = paired_difference(tasks)
    shuffled = list(tasks)
    random.shuffle(shuffled)
    assert paired_difference(shuffled) == found
    assert found.better + found.worse + found.equal == found.tasks == len(tasks)
    clusters = {}
    for task in tasks:
        clusters.setdefault(task.cluster, []).append(task.difference)
    assert found.clusters == len(clusters)
    if len(clusters) < 2:
        assert found.low is found.high is None
        return
    means = [sum(values) / len(values) for values in clusters.values()]
    assert min(means) - 1e-6 <= found.low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= found.high <= max(means) + 1e-6


def test_no_common_task_has_no_difference():
    assert paired_difference([]).mean is None


def test_replicates_of_a_design_are_one_piece_of_evidence():
    """Ten replicates of two designs give the interval of two clusters, which is much wider than that of twenty."""
    drawn = [(f"sm{number}", number % 2, 0.5 if number % 2 else 0.1) for number in range(20)]
    apart = [PairedTask(task_id=name, cluster=name, before=0, after=value) for name, _, value in drawn]
    together = [PairedTask(task_id=name, cluster=str(design), before=0, after=value) for name, design, value in drawn]
    wide, narrow = paired_difference(together), paired_difference(apart)
    assert wide.mean == narrow.mean == pytest.approx(0.3)
    assert wide.high - wide.low >= 1.5 * (narrow.high - narrow.low)


def test_the_interval_of_equal_differences_is_the_difference():
    tasks = [PairedTask(task_id=f"sm{n}", cluster=f"{n}", before=0.25, after=0.75) for n in range(5)]
    found = paired_difference(tasks)
    assert (found.mean, found.low, found.high, found.better) == (0.5, 0.5, 0.5, 5)


def test_nine_intervals_of_ten_hold_the_true_difference():
    """Twelve designs with normal differences: intervals of 95 % hold the truth about that often."""
    import numpy as np

    generator, held = np.random.default_rng(3), 0
    for _ in range(60):
        values = generator.normal(0.1, 0.2, 12).round(6).tolist()
        tasks = [PairedTask(task_id=f"sm{n}", cluster=f"{n}", before=0, after=value) for n, value in enumerate(values)]
        found = paired_difference(tasks)
        held += found.low <= 0.1 <= found.high
    assert 52 <= held <= 60


def test_the_table_of_stated_facts_is_that_of_the_figures_and_missing_without_credits():
    credits = (
        FactCredit(fact="formula:a", value=0.5),
        FactCredit(fact="formula:b"),
        FactCredit(fact="units:c", value=0.0),
    )
    rollouts = [
        fact("sm1", 0, credits=credits),
        fact("sm2", 1, credits=credits[:1]),
        fact("sm3", 2, None, credits=credits),
    ]
    (formula, units) = _figure(_section([rollouts]), "rollout-facts").records()
    expected = rollout_figures(rollouts, _PLACES).caught
    assert {row["fact"]: row["caught"] for row in (formula, units)} == expected
    assert (formula["tasks"], formula["rollouts"], units["rollouts"]) == (2, 2, 1)
    assert "rollout-facts" not in {one.id for one in _section([[fact("sm1")]]).figures}
