"""Splits of a release: siblings together, and held-out domains and motifs nowhere else."""

from collections import defaultdict

from sandmill.design.motifs import HIDDEN_KINDS
from sandmill.verify.records import held_out_motifs, split_of
from tests.designs import SECRET, make_spec

SPECS = [make_spec(slot=slot, hardness=0.7) for slot in range(60)]
SPLITS = [split_of(spec, number, "plan", SECRET) for number, spec in enumerate(SPECS)]


def test_no_task_of_train_or_validation_shows_what_is_held_out():
    (motif,) = held_out_motifs(SECRET)
    assert motif in HIDDEN_KINDS
    domains = defaultdict(set)
    for spec, split in zip(SPECS, SPLITS, strict=True):
        domains[split].add(spec.domain)
        assert split == "held_out_domain" or (motif in spec.mechanism.motif_names) == (split == "held_out_motif")
    others = set().union(*(found for split, found in domains.items() if split != "held_out_domain"))
    assert not domains["held_out_domain"] & others


def test_hold_outs_are_those_of_the_secret_whatever_the_plan():
    held = [split for split in SPLITS if split.startswith("held_out")]
    assert held
    for number, (spec, split) in enumerate(zip(SPECS, SPLITS, strict=True)):
        other = split_of(spec, number + 7, "another plan", SECRET)
        assert (other == split) or not (other.startswith("held_out") or split.startswith("held_out"))
    assert len({frozenset(held_out_motifs(bytes([turn]) * 32)) for turn in range(12)}) > 3


def test_a_share_of_0_holds_out_nothing_and_a_larger_share_holds_out_the_same_domains_and_more():
    held = [
        {spec.domain for spec in SPECS if split_of(spec, 0, "plan", SECRET, share) == "held_out_domain"}
        for share in (0.0, 0.08, 0.5)
    ]
    assert held[0] == set() < held[1] < held[2]
    splits = {split_of(spec, number, "plan", SECRET, 0.0) for number, spec in enumerate(SPECS)}
    assert splits == {"train", "validation"}
