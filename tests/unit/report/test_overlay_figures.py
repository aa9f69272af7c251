"""Figures on rollouts: their SQL against the figures of sandmill rollout, and what a section shows."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.models.rollout import TaskPlace
from sandmill.report.html.overlay import overlay_section
from sandmill.report.html.page import PageHead, machine_twin
from sandmill.report.overlay_figures import overlay_facts
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


def _facts(sets, edition="private", labels=LABELS, **given):
    with open_queries(views_of(sets, labels)) as queries:
        return overlay_facts(queries, edition, labels[: len(sets)], given.pop("clusters", {}), given.pop("same", True))


@settings(deadline=None, max_examples=12)
@given(_ROLLOUTS)
def test_the_sql_agrees_with_the_figures_of_sandmill_rollout(rollouts):
    found, expected = _facts([rollouts]), rollout_figures(rollouts, _PLACES)
    kinds = {row["task_id"]: row for row in found.tasks.records()}
    assert tuple(name for name in kinds if kinds[name]["kind"] == "never") == expected.always_0
    assert tuple(name for name in kinds if kinds[name]["kind"] == "always") == expected.always_1
    assert tuple(name for name in kinds if kinds[name]["without_variance"]) == expected.without_variance
    for row in found.kinds.records():
        lengths = (len(expected.always_0), len(expected.always_1), len(expected.without_variance))
        assert (row["always_0"], row["always_1"], row["without_variance"]) == lengths
        assert row["tasks"] == len(kinds) == lengths[0] + lengths[1] + row["frontier"]
    by_band = {row["band"]: row for row in found.solved[0].records()}
    assert list(by_band) == list(expected.bands)
    assert {band: row["solve_rate"] for band, row in by_band.items()} == pytest.approx(
        {band: group.medal for band, group in expected.bands.items()}, abs=1e-6
    )
    assert {row["failure"]: row["rollouts"] for row in found.failures.records()} == expected.failures
    assert sum(row["rollouts"] for row in found.rewards.records()) == expected.all.rollouts
    for row in found.sets.records():
        assert (row["rollouts"], row["masked"]) == (expected.all.rollouts, expected.masked)
        if expected.all.rollouts:
            assert row["mean_reward"] == pytest.approx(expected.all.mean_reward, abs=1e-6)
            assert row["mean_gap"] == pytest.approx(expected.all.mean_gap, abs=1e-6)


def test_two_sets_are_compared_on_common_tasks():
    (one,) = _facts(SMALL).comparisons
    assert [(row["task_id"], row["difference"]) for row in one.tasks.records()] == [
        ("sm1", 0.425),
        ("sm2", -0.1),
        ("sm3", 0.05),
    ]
    rewards, *_ = one.summary.records()
    found = one.intervals["reward"]
    assert (
        (rewards["tasks"], rewards["better"], rewards["worse"]) == (found.tasks, found.better, found.worse) == (3, 2, 1)
    )
    assert rewards["mean_difference"] == pytest.approx(found.mean) == pytest.approx(0.125)
    assert found.low < 0.125 < found.high
    assert one.intervals["solve rate"].mean == pytest.approx(0.5 / 3, abs=1e-6)


def test_replicates_count_as_one_design():
    (one,) = _facts(SMALL, clusters={"sm1": "a", "sm2": "a", "sm3": "b"}).comparisons
    assert {found.clusters for found in one.intervals.values()} == {2}


def test_rewards_of_different_presets_are_not_compared():
    (one,) = _facts(SMALL, same=False).comparisons
    assert (
        list(one.intervals) == [row["measure"] for row in one.summary.records()] == ["share of the gap", "solve rate"]
    )


def test_the_public_edition_names_no_task_and_no_band():
    with open_queries({name: view for name, view in views_of(SMALL).items() if name != "private_tasks"}) as queries:
        section = overlay_section(overlay_facts(queries, "public", LABELS, {}, same_rewards=True))
    head = PageHead(dataset="micro", version="0001-ab12cd34", edition="public")
    shown = section.html + machine_twin(head, [section]).decode() + json.dumps(section.data)
    assert not [word for word in (*BANDS, "band", "expert", "private_tasks") if word in shown]
    assert "tabular/binary" in shown


def test_texts_of_rollouts_are_escaped_and_ids_are_unique():
    section = overlay_section(_facts(SMALL))
    assert "<100>" not in section.html
    assert "step &lt;100&gt; &amp; &#x27;more&#x27;" in section.html
    ids = [one.id for one in section.figures]
    assert len(ids) == len(set(ids))


def test_masked_rollouts_alone_make_a_section():
    facts = _facts([[fact("sm1", 0, None)], [fact("sm2", 0, 0.5)]])
    assert facts.comparisons[0].intervals["reward"].mean is None
    assert "no task in common" in overlay_section(facts).html
