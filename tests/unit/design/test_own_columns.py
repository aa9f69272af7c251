"""Facts with columns of their own: units that occur in both files, and distances between two places."""

from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from sandmill.calibrate.readers import stated_facts
from sandmill.check.gates import check_package
from sandmill.check.giveaways import GIVEAWAYS
from sandmill.check.hint_gate import check_hints
from sandmill.check.package_tables import read_package
from sandmill.design import hints
from sandmill.design.hints import OwnColumns, columns_told
from sandmill.design.soundness import domain_problems
from sandmill.draw import render
from sandmill.models.hints import Form, SameUnits
from sandmill.models.motifs import Distance, KnownUnit, columns_of
from tests.designs import SECRET, with_small_test
from tests.hinted_designs import KNOWING, design

OWN = [(domain, word) for domain in KNOWING for word in (*domain.knows.same_units, *domain.knows.distances)]
KINDS = ("same_units", "distances")
PLACES = {kind: next(at for at, domain in enumerate(KNOWING) if getattr(domain.knows, kind)) for kind in KINDS}


@cache
def stating(kind: str, *, matters: bool = True):
    """A design whose texts state units or a distance."""
    with patch.multiple(hints, _CHANCE_OF_OWN_FACT=1.0, _CHANCE_OF_OWN_USE=float(matters)):
        specs = (design(slot, 0.8) for slot in range(PLACES[kind], 10 * len(KNOWING), len(KNOWING)))
        return next(spec for spec in specs if any(own_fact(hint) for hint in spec.hints))


def own_fact(hint):
    return isinstance(hint.fact, SameUnits) or (isinstance(hint.fact, Form) and isinstance(hint.fact.motif, Distance))


def own_hint(spec):
    (hint,) = [hint for hint in spec.hints if own_fact(hint)]
    return hint


@cache
def package(kind: str, *, matters: bool = True):
    return render(with_small_test(stating(kind, matters=matters), 300, 600), SECRET).package


def test_many_domains_know_such_facts():
    counts = {kind: sum(bool(getattr(domain.knows, kind)) for domain in KNOWING) for kind in KINDS}
    assert counts["same_units"] >= 20
    assert counts["distances"] >= 6
    names = [name for _, word in OWN for name in columns_told(word)]
    assert len(set(names)) == len(names), "no column of two domains has the same name"


@pytest.mark.parametrize(("domain", "word"), OWN, ids=lambda item: item.name)
def test_a_domain_with_the_columns_is_sound_and_each_text_names_them(domain, word):
    assert domain_problems(OwnColumns(word).added_to(domain), GIVEAWAYS) == []
    for text in word.texts:
        assert all(f"`{name}`" in text for name in columns_told(word)), text
        assert not [phrase for phrase in GIVEAWAYS if phrase in text.lower()], text


@pytest.mark.parametrize("matters", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_design_states_the_fact_and_uses_it_if_it_matters(kind, matters):
    spec = stating(kind, matters=matters)
    used = [term.motif for term in spec.mechanism.terms if isinstance(term.motif, KnownUnit | Distance)]
    assert [hint.matters for hint in spec.hints if own_fact(hint)] == [matters]
    assert len(used) == matters
    faulty = {fault.column for fault in (*spec.mechanism.cell_faults(), *spec.mechanism.mixed_types())}
    assert not faulty & {name for motif in used for name in columns_of(motif)}


@pytest.mark.parametrize(("kind", "matters"), [(KINDS[0], True), (KINDS[1], False)])
def test_a_sound_package_passes_all_gates(kind, matters):
    assert [str(finding) for finding in check_package(package(kind, matters=matters))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_gate_finds_a_fact_that_is_not_stated_or_claims_another_use(kind):
    made = package(kind)
    hint = own_hint(made.spec)
    public = {**made.public, hint.file: made.public[hint.file].replace(hint.text.encode(), b"Nothing.")}
    problems = list(check_hints(read_package(made.model_copy(update={"public": public}))))
    assert any("does not state the hint" in problem for problem in problems)
    other = [one.model_copy(update={"matters": False}) if one == hint else one for one in made.spec.hints]
    denied = made.model_copy(update={"spec": made.spec.model_copy(update={"hints": tuple(other)})})
    assert any("part of the rule" in problem for problem in check_hints(read_package(denied)))


def test_no_public_text_and_no_fact_of_a_reader_tells_the_levels_of_units():
    made = package("same_units")
    (motif,) = [term.motif for term in made.spec.mechanism.terms if isinstance(term.motif, KnownUnit)]
    levels = np.abs(np.asarray(motif.effects))
    assert levels.size >= 20
    stated = stated_facts(made.spec, made.public)
    assert own_hint(made.spec).fact in stated.facts
    texts = [content.decode() for name, content in made.public.items() if name.endswith(".md")]
    said = " ".join([*texts, *map(str, stated.facts)])
    assert not [level for level in levels.ravel() if f"{level:.4f}" in said]
