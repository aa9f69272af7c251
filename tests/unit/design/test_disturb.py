"""How easy designs are calmed: less that disturbs items, and rules that rest on what general features show."""

import numpy as np
import pytest

from sandmill.design import design_task
from sandmill.design.conditions import Conditions
from sandmill.design.rule import choose_rule
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.text import channel as texts
from sandmill.kinds.text.channel import Nuisance, Slot, TextChannel
from sandmill.models.base import Band
from sandmill.models.kind import kind_named
from sandmill.models.motifs import Curve, Linear, columns_of
from sandmill.models.plan import Slot as PlanSlot
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds

HARDNESS = (0.0, 0.5, 1.0)
PASSAGES = TextChannel(
    column="passage",
    meaning="A passage",
    slots={
        "act": Slot(lists=(("{name} is {mood} in {town}.",),)),
        "town": Slot(lists=(("Ulm", "Jena", "Kiel"),)),
        "name": Slot(lists=(("Ann", "Ben", "Cem", "Dan", "Eva"),)),
        "mood": Slot(
            by="grade", column="gloom", meaning="Gloom", lists=(("glad", "gay", "merry"), ("sad", "low", "grim"))
        ),
    },
    plans=(("act", "act"),),
    once=("name", "town"),
    anew=("town",),
    nuisance=Nuisance(typos=0.02, loose=0.1, asides=0.1, quotes=0.2),
)


def channels_of(kind_name):
    """Channels of one design at each hardness."""
    seed = next(seed for seed in bundled_seeds().supported if seed.structure.kind == kind_name)
    slot = PlanSlot(number=1, seed=seed, band=Band.HARD)
    return [design_task(slot, Streams(SECRET, f"calm {kind_name}"), hardness).channel for hardness in HARDNESS]


@pytest.mark.parametrize(
    ("kind_name", "fields"),
    [
        ("audio_archive", ("noise", "passing", "gain", "echo")),
        ("image_classes", ("grain", "lighting", "occlusion", "blur", "variety")),
        ("table_image", ("grain", "lighting", "occlusion", "blur", "variety")),
    ],
)
def test_what_disturbs_items_rises_with_hardness(kind_name, fields):
    channels = channels_of(kind_name)
    for name in fields:
        values = [getattr(channel, name) for channel in channels]
        assert values == sorted(values), name
        assert values[0] < values[-1], name


def test_passages_of_easy_designs_are_long_and_have_few_lasting_names_and_slips():
    made = [texts.disturb_passages(PASSAGES, hardness) for hardness in HARDNESS]
    lengths = [channel.repeats for channel in made]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]
    assert [len(channel.slots["name"].lists[0]) for channel in made] == [1, 2, 5]
    assert all(channel.slots["town"] == PASSAGES.slots["town"] for channel in made), "drawn anew for each entry"
    assert [len(channel.slots["mood"].lists[0]) for channel in made] == [1, 3, 3]
    assert made[0].nuisance == Nuisance(quotes=0.2)
    assert made[-1].nuisance == PASSAGES.nuisance


@pytest.mark.parametrize(
    ("kind", "place"), [("audio_archive", 0.0), ("image_grades", 0.0), ("image_classes", 0.9), ("image_patients", 0.9)]
)
def test_the_leading_plain_motif_does_not_read_what_is_hardly_seen(kind, place):
    medium = kind_named(kind).load("design").choose_medium(place)
    assert medium.not_leading
    conditions = Conditions(SplitKind.RANDOM, frozenset())
    vocabulary = choose_vocabulary(medium.domain, conditions, Streams(SECRET, "words"))
    names = [word.name for word in medium.domain.numeric]
    faint = next(name for name in names if name in medium.not_leading)
    wanted = (Linear(column=faint), *(Curve(column=name) for name in names if name not in medium.not_leading))
    rules = [
        choose_rule(vocabulary, conditions, np.random.default_rng(n), wanted * (n % 2), (), medium.not_leading)
        for n in range(30)
    ]
    for rule in rules:
        assert set(columns_of(rule.plain[0])).isdisjoint(medium.not_leading)
        read = [name for motif in (*rule.plain, *rule.hidden) for name in columns_of(motif)]
        assert len(read) == len(set(read))
    later = {name for rule in rules for motif in (*rule.plain[1:], *rule.hidden) for name in columns_of(motif)}
    assert later & set(medium.not_leading), "other motifs read them"


@pytest.mark.parametrize("place", [0.0, 0.9])
@pytest.mark.parametrize(("kind", "cells"), [("image_patients", "shown"), ("json_rows", "cells")])
def test_no_cell_beside_an_item_leads_a_rule(kind, cells, place):
    medium = kind_named(kind).load("design").choose_medium(place)
    units = {word.name for word in medium.domain.units}
    assert set(getattr(medium, cells)) - units <= set(medium.not_leading), "else reading the item would hardly pay"
    words = (*medium.domain.numeric, *medium.domain.categorical)
    assert {word.name for word in words} - set(medium.not_leading) - set(medium.unread), "something is left to lead"
