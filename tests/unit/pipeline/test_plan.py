"""Bands are swapped where a structure cannot reach its own, and the mix stays."""

import json
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandmill.design.difficulty_curves import DIFFICULTY_CURVES
from sandmill.design.motifs import HIDDEN_KINDS
from sandmill.errors import RequestError
from sandmill.fingerprint import _content, fingerprint
from sandmill.models.base import Band
from sandmill.models.kind import kind_of
from sandmill.models.plan import ShardRef
from sandmill.models.request import DEFAULT_MIX, BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind
from sandmill.pipeline.band_search import beyond_reach, pair_bands
from sandmill.pipeline.plan import plan_build, plan_shards, plan_slots, share_out
from sandmill.pipeline.run import due_slots
from sandmill.seeds.cards import LITE
from sandmill.verify.records import held_out_motifs, split_of
from tests.designs import SECRET, TASKS, bundled_seeds, make_seed, make_spec

SEEDS = tuple(make_seed(*task) for task in TASKS)


def plan(tasks=20, **request):
    return plan_build(BuildRequest(name="d", tasks=tasks, **request), SeedIntake(supported=SEEDS))


def shards(of, slots=None, **changes):
    named = {"dataset": "r/d", "shard_size": 6, "code": "c", "secret_id": "s", **changes}
    return plan_shards(of, plan_slots(of) if slots is None else slots, **named)


@given(st.integers(1, 300), st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any))
def test_bands_fill_the_mix_to_the_slot(total, weights):
    mix = {band: weight / sum(weights) for band, weight in zip(Band, weights, strict=True)}
    counts = share_out(mix, total)
    assert sum(counts.values()) == total
    assert all(abs(counts[band] - mix[band] * total) < 1 for band in mix)


def test_seeds_take_turns_and_bands_are_spread():
    slots = plan_slots(plan(60))
    assert set(Counter(slot.seed.id for slot in slots).values()) == {60 // len(SEEDS)}
    assert Counter(slot.band for slot in slots) == share_out(DEFAULT_MIX, 60)
    assert [slot.band for slot in slots] != sorted((slot.band for slot in slots), key=list(Band).index)


def test_a_slot_that_stayed_empty_gets_a_seed_that_filled_its_band():
    of = plan(40)
    slots = plan_slots(of)
    hard = [slot.number for slot in slots if slot.band is Band.HARD]
    done = ShardRef(dataset="r/d", key="k", round=0, filled=tuple(n for n in range(40) if n not in hard[:2]))
    number, due = due_slots(of, [done])
    assert (number, [slot.number for slot in due]) == (1, hard[:2])
    assert [slot.seed for slot in due] == [slots[hard[2]].seed] * 2
    assert [slot.model_copy(update={"seed": slots[slot.number].seed}) for slot in due] == [slots[n] for n in hard[:2]]
    lone = ShardRef(dataset="r/d", key="k", round=0, filled=tuple(n for n in range(40) if n not in hard))
    assert [slot.seed for slot in due_slots(of, [lone])[1]] == [slots[n].seed for n in hard]
    assert due_slots(of, [done.model_copy(update={"round": 2})]) == (3, [])


def test_a_plan_follows_from_content_and_not_from_names_or_order():
    one = plan_build(BuildRequest(name="a", seeds=("x",)), SeedIntake(supported=SEEDS))
    other = plan_build(BuildRequest(name="b", seeds=("y", "z")), SeedIntake(supported=SEEDS[::-1]))
    assert one.fingerprint == other.fingerprint
    assert plan_slots(one) == plan_slots(other)
    assert plan(seed=1).fingerprint != plan(seed=2).fingerprint
    fewer = plan_build(BuildRequest(name="a"), SeedIntake(supported=SEEDS[1:]))
    assert fewer.fingerprint != one.fingerprint


def test_a_shard_key_changes_with_everything_that_decides_its_content():
    of = plan()
    base = shards(of)[0].key
    assert base == shards(plan())[0].key
    changed = [
        shards(plan(seed=9))[0].key,
        shards(of, code="d")[0].key,
        shards(of, secret_id="t")[0].key,
        shards(of, round=1)[0].key,
        shards(of, slots=plan_slots(of)[1:])[0].key,
        shards(of, shard_size=7)[0].key,
    ]
    assert len({base, *changed}) == 7


def test_slots_take_the_shares_of_kinds_that_are_asked_for():
    asked = {"table": 0.66, "text": 0.17, "image_archive": 0.17}
    slots = plan_slots(plan_build(BuildRequest(name="d", tasks=12, kinds=asked), bundled_seeds()))
    assert Counter(kind_of(slot.seed.structure).name for slot in slots) == {"table": 8, "text": 2, "image_archive": 2}


def test_levels_of_reading_fill_their_shares_and_plain_facts_go_to_medium_tables_first():
    slots = plan_slots(plan(60, reading={"plain": 0.4, "prose": 0.4, "contested": 0.2}))
    read = [slot for slot in slots if slot.band is not Band.EASY]
    assert Counter(slot.reading for slot in read) == share_out(
        {"plain": 0.4, "prose": 0.4, "contested": 0.2}, len(read)
    )
    assert {slot.reading for slot in slots if slot.band is Band.EASY} == {"plain"}
    medium = Counter(slot.reading for slot in read if slot.band is Band.MEDIUM)
    assert medium["plain"] >= medium.total() / 2
    assert medium["plain"] < medium.total()


def test_the_usual_levels_of_reading_leave_the_fingerprint_of_a_request_and_others_change_it():
    usual = BuildRequest(name="d")
    assert "reading" not in json.dumps(_content(usual))
    assert fingerprint(BuildRequest(name="d", reading={"plain": 1.0})) != fingerprint(usual)
    with pytest.raises(ValidationError, match="must sum to 1"):
        BuildRequest(name="d", reading={"plain": 0.5})


def test_lite_takes_every_structure_of_mle_bench_lite_equally_often():
    lite = plan_build(BuildRequest(name="d", tasks=44, structures="lite"), bundled_seeds())
    assert {seed.id for seed in (*lite.seeds, *lite.unsupported)} == LITE
    counts = Counter(slot.seed.id for slot in plan_slots(lite))
    assert max(counts.values()) - min(counts.values()) <= 1
    assert lite.fingerprint != plan_build(BuildRequest(name="d", tasks=44), bundled_seeds()).fingerprint
    with pytest.raises(ValidationError, match="leave out --seeds"):
        BuildRequest(name="d", structures="lite", seeds=("mine",))


def test_kinds_that_no_seed_has_or_nobody_knows_are_refused():
    with pytest.raises(RequestError, match="text, of which there is no seed"):
        plan_build(BuildRequest(name="d", kinds={"text": 1.0}), SeedIntake(supported=SEEDS))
    with pytest.raises(ValidationError, match="unknown kind of task 'film'"):
        BuildRequest(name="d", kinds={"film": 1.0})
    with pytest.raises(ValidationError, match="must sum to 1"):
        BuildRequest(name="d", kinds={"text": 0.5})


@pytest.mark.parametrize("tasks", [48, 500])
def test_domains_come_up_evenly(tasks: int):
    places = [slot.place for slot in plan_slots(plan(tasks))]
    counts = np.bincount([int(place * 48) for place in places], minlength=48)
    assert counts.max() - counts.min() <= 2
    assert places != [slot.place for slot in plan_slots(plan(tasks, seed=8))]


NEVER_EASY = make_seed(TargetKind.COUNT, MetricName.MAE).structure
OFTEN_EASY = make_seed(TargetKind.BINARY, MetricName.ROC_AUC).structure
STRUCTURES = [make_seed(*task).structure for task in DIFFICULTY_CURVES]


def beyond(structures, bands):
    return sum(beyond_reach(structure, band) for structure, band in zip(structures, bands, strict=True))


def test_a_band_goes_where_it_can_be_reached_and_others_stay():
    assert pair_bands([NEVER_EASY, OFTEN_EASY], [Band.EASY, Band.HARD]) == [Band.HARD, Band.EASY]
    for structure, bands in ((OFTEN_EASY, [Band.MEDIUM, Band.EASY, Band.HARD]), (NEVER_EASY, [Band.EASY] * 2)):
        assert pair_bands([structure] * len(bands), bands) == bands


@given(st.lists(st.tuples(st.sampled_from(STRUCTURES), st.sampled_from(list(Band))), max_size=60))
def test_the_mix_stays_and_no_more_is_beyond_reach_than_before(slots):
    structures, bands = [structure for structure, _ in slots], [band for _, band in slots]
    paired = pair_bands(structures, bands)
    assert Counter(paired) == Counter(bands)
    assert beyond(structures, paired) <= beyond(structures, bands) + 1e-9
    assert paired == pair_bands(structures, bands)


@cache
def split_specs() -> list[tuple[TaskSpec, str]]:
    specs = [make_spec(slot=slot, hardness=0.7) for slot in range(40)]
    return [(spec, split_of(spec, number, "plan", SECRET)) for number, spec in enumerate(specs)]


def test_no_task_of_train_or_validation_shows_what_is_held_out():
    (motif,) = held_out_motifs(SECRET)
    assert motif in HIDDEN_KINDS
    domains = defaultdict(set)
    for spec, split in split_specs():
        domains[split].add(spec.domain)
        assert split == "held_out_domain" or (motif in spec.mechanism.motif_names) == (split == "held_out_motif")
    others = set().union(*(found for split, found in domains.items() if split != "held_out_domain"))
    assert not domains["held_out_domain"] & others


def test_hold_outs_are_those_of_the_secret_whatever_the_plan():
    held = [split for _, split in split_specs() if split.startswith("held_out")]
    assert held
    for number, (spec, split) in enumerate(split_specs()):
        other = split_of(spec, number + 7, "another plan", SECRET)
        assert (other == split) or not (other.startswith("held_out") or split.startswith("held_out"))
    assert len({frozenset(held_out_motifs(bytes([turn]) * 32)) for turn in range(12)}) > 3


def test_a_share_of_0_holds_out_nothing_and_a_larger_share_holds_out_the_same_domains_and_more():
    held = [
        {spec.domain for spec, _ in split_specs() if split_of(spec, 0, "plan", SECRET, share) == "held_out_domain"}
        for share in (0.0, 0.08, 0.5)
    ]
    assert held[0] == set() < held[1] < held[2]
    splits = {split_of(spec, number, "plan", SECRET, 0.0) for number, (spec, _) in enumerate(split_specs())}
    assert splits == {"train", "validation"}
