"""The gate on hints lets sound packages pass and finds facts that are not stated, wrong or of no use."""

import pytest

from sandmill.check.gates import check_package
from sandmill.check.hint_gate import check_hints
from sandmill.check.package_tables import read_package
from sandmill.models.hints import DATA_DICTIONARY, Form, Sentinel, Units
from sandmill.models.motifs import CodeValue, Conditional, Formula, NormDistance
from sandmill.models.package import TaskPackage
from tests.hinted_designs import hinted, hinted_at, small_rendered, small_rendered_at

SLOTS = range(14)


def findings(package: TaskPackage) -> list[str]:
    return list(check_hints(read_package(package)))


def find(wanted, *, matters=True):
    """The first package with a hint that fits, and the hint."""
    for slot in SLOTS:
        for hint in hinted(slot).hints:
            of_form = isinstance(hint.fact, Form) and isinstance(hint.fact.motif, wanted)
            if (of_form or isinstance(hint.fact, wanted)) and hint.matters is matters:
                return small_rendered(slot).package, hint
    raise LookupError(wanted)


def with_public(package: TaskPackage, name: str, old: str, new: str) -> TaskPackage:
    content = package.public[name].decode()
    assert old in content
    public = {**package.public, name: content.replace(old, new).encode()}
    return package.model_copy(update={"public": public})


def with_hints(package: TaskPackage, change) -> TaskPackage:
    spec = package.spec.model_copy(update={"hints": tuple(change(package.spec.hints))})
    return package.model_copy(update={"spec": spec})


@pytest.mark.parametrize("slot", [0, 3])
def test_sound_packages_pass_all_gates(slot):
    assert [str(finding) for finding in check_package(small_rendered(slot).package)] == []


@pytest.mark.parametrize("kind", [Formula, Sentinel])
def test_a_hint_that_is_not_in_its_file_is_found(kind):
    package, hint = find(kind)
    (problem, *_) = findings(with_public(package, hint.file, hint.text, "Nothing of that."))
    assert f"{hint.file}: does not state the hint" in problem


@pytest.mark.parametrize("kind", [Conditional, NormDistance, CodeValue])
def test_a_text_without_the_numbers_and_levels_of_its_fact_is_found(kind):
    package, hint = find(kind)
    short = hint.model_copy(update={"text": "The house has `its` ways."})
    changed = with_hints(package, lambda hints: [short if one == hint else one for one in hints])
    problems = findings(with_public(changed, hint.file, hint.text, short.text))
    assert any("does not state" in problem for problem in problems)


def test_a_wrong_number_for_missing_cells_is_found():
    package, hint = find(Sentinel)
    other = hint.fact.model_copy(update={"value": hint.fact.value - 1})
    wrong = hint.model_copy(update={"fact": other})
    problems = findings(with_hints(package, lambda hints: [wrong if one == hint else one for one in hints]))
    assert any("does not state the number" in problem for problem in problems)
    assert any(f"no hint states the number for missing cells of {other.column}" in problem for problem in problems)


def test_units_that_no_hint_states_are_found():
    package, hint = find(Units)
    problems = findings(with_hints(package, lambda hints: [one for one in hints if one != hint]))
    assert f"no hint states the units of {hint.fact.column}" in problems


def test_a_hint_about_its_own_use_that_is_wrong_is_found():
    package, hint = find(Formula)
    useless = hint.model_copy(update={"matters": False})
    problems = findings(with_hints(package, lambda hints: [useless if one == hint else one for one in hints]))
    assert any("is part of the rule, which its design denies" in problem for problem in problems)
    package, hint = find(Conditional, matters=False)
    used = hint.model_copy(update={"matters": True})
    problems = findings(with_hints(package, lambda hints: [used if one == hint else one for one in hints]))
    assert any("is not part of the rule" in problem for problem in problems)


def test_words_about_the_mechanism_in_the_dictionary_are_found():
    package, hint = find(CodeValue)
    spoken = with_public(package, DATA_DICTIONARY, hint.text, f"{hint.text}\n\nThe latent rule knows.")
    assert any("speaks of the mechanism" in problem for problem in findings(spoken))


@pytest.mark.parametrize("level", ["prose", "spread", "contested"])
def test_texts_of_every_level_pass(level):
    for slot in range(3):
        package = small_rendered_at(level, slot).package
        assert not findings(package)
        assert {hint.level for hint in package.spec.hints} <= {level, "prose"}


def find_at(level, wanted, suits=lambda hint: True):
    for slot in range(40):
        for hint in hinted_at(level, slot).hints:
            fact = hint.fact.motif if isinstance(hint.fact, Form) else hint.fact
            if isinstance(fact, wanted) and hint.level == level and suits(hint):
                return small_rendered_at(level, slot).package, hint
    raise LookupError(wanted)


def test_a_fact_in_two_places_needs_both():
    package, hint = find_at("spread", Formula, lambda hint: hint.further)
    (second,) = hint.further
    lines = second.text.splitlines()
    assert any("word for word" in found for found in findings(with_public(package, second.file, lines[0], "Gone.")))


def test_numbers_in_words_are_checked():
    package, hint = find_at("prose", Sentinel)
    other = hint.model_copy(update={"fact": hint.fact.model_copy(update={"value": hint.fact.value * 10})})
    changed = with_hints(package, lambda hints: (other if one == hint else one for one in hints))
    assert any("does not state the number" in found for found in findings(changed))

    package, hint = find_at("prose", Formula, lambda hint: hint.fact.motif.norm is not None)
    motif = hint.fact.motif.model_copy(update={"norm": hint.fact.motif.norm * 1.07})
    other = hint.model_copy(update={"fact": hint.fact.model_copy(update={"motif": motif})})
    changed = with_hints(package, lambda hints: (other if one == hint else one for one in hints))
    assert any("does not state the number" in found for found in findings(changed))
