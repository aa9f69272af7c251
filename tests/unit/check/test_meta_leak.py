"""Words that give roles away over a release are found; words that say nothing pass, however few the tasks."""

from collections.abc import Callable

import numpy as np
import pytest

from sandmill.check.meta_leak import READER_MARGIN, WORD_MARGIN, MetaLeak, check_meta_leak
from sandmill.models.columns import Categorical, Column, LogNormal
from sandmill.models.hints import Form, Hint
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Formula, Linear, Lookup, Motif, Ratio, Term, Threshold, columns_of
from sandmill.models.spec import Sizes, TaskSpec
from tests import factories

NUMBERS = ("load", "speed", "depth", "price", "delay", "mass", "area", "heat", "noise", "dose", "yield", "wear")
CATEGORIES = ("site", "shift", "brand", "route")
Plant = Callable[[TaskSpec], TaskSpec]


def make_spec(number: int, names: tuple[str, ...] = NUMBERS, parent: str | None = None, rows: int = 100) -> TaskSpec:
    """A design whose roles are drawn without regard to names or order: half have a ratio, half a threshold."""
    rng = np.random.default_rng(number)
    numbers = [str(name) for name in rng.permutation(names)[:8]]
    categories = [str(name) for name in rng.permutation(CATEGORIES)[:2]]
    motifs: list[Motif] = [Linear(column=numbers[0]), Lookup(column=categories[0], effects=(1.0, -1.0))]
    rare: Motif = Threshold(column=numbers[1], cut=1.5)
    if rng.random() < 0.5:
        rare = Ratio(numerator=numbers[1], denominator=numbers[2])
    declared = [Column(name=name, distribution=LogNormal(median=2, sigma=0.5)) for name in numbers]
    declared += [
        Column(name=name, distribution=Categorical(levels=("a", "b"), shares=(0.5, 0.5)), decimals=0)
        for name in categories
    ]
    columns = tuple(declared[i] for i in rng.permutation(len(declared)))
    whole = factories.make_spec()
    meanings = {column.name: f"Recorded {column.name}" for column in columns}
    changes = {
        "mechanism": Mechanism(
            columns=columns,
            terms=tuple(Term(motif=motif, weights=(1.0,)) for motif in (*motifs, rare)),
            link=BinaryLink(intercept=0.0),
        ),
        "story": whole.story.model_copy(update={"title": "Works: predict failed", "column_meanings": meanings}),
        "sizes": Sizes(train=rows, feedback=1000, final=1000),
        "parent": parent,
    }
    return renew(whole, **changes)


def release(tasks: int, plant: Plant = lambda spec: spec) -> MetaLeak:
    return check_meta_leak(plant(make_spec(number)) for number in range(tasks))


def roles(spec: TaskSpec) -> dict[str, str]:
    return {name: term.motif.motif for term in spec.mechanism.terms for name in columns_of(term.motif)}


def name_the_numerator(spec: TaskSpec) -> TaskSpec:
    for term in spec.mechanism.terms:
        if isinstance(term.motif, Ratio):
            written = spec.model_dump_json().replace(f'"{term.motif.numerator}"', '"gross_output"')
            return TaskSpec.model_validate_json(written)
    return spec


def name_the_motifs_in_the_title(spec: TaskSpec) -> TaskSpec:
    title = f"{spec.story.title} by {' and '.join(sorted(set(roles(spec).values())))}"
    return retell(spec, title=title)


def word_meanings_by_motif(spec: TaskSpec) -> TaskSpec:
    ending = {"threshold": "limit", "ratio": "relative"}
    known = roles(spec)
    meanings = {name: f"{text} {ending.get(known.get(name, ''), '')}" for name, text in meanings_of(spec).items()}
    return retell(spec, column_meanings=meanings)


def put_the_rule_first(spec: TaskSpec) -> TaskSpec:
    known = roles(spec)
    columns = tuple(sorted(spec.mechanism.columns, key=lambda column: column.name not in known))
    return renew(spec, mechanism=spec.mechanism.model_copy(update={"columns": columns}))


def meanings_of(spec: TaskSpec) -> dict[str, str]:
    return spec.story.column_meanings


def retell(spec: TaskSpec, **changes: object) -> TaskSpec:
    return renew(spec, story=spec.story.model_copy(update=changes))


def renew(spec: TaskSpec, **changes: object) -> TaskSpec:
    """A changed copy without the fingerprint that the original may have computed already."""
    return TaskSpec.model_validate(spec.model_copy(update=changes).model_dump())


@pytest.mark.parametrize("tasks", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_words_that_say_nothing_pass(tasks: int) -> None:
    found = release(tasks)
    assert (found.verdict, found.tasks, found.columns) == ("clean", tasks, 10 * tasks)
    assert found.lift < READER_MARGIN


@pytest.mark.parametrize(
    ("plant", "word", "motif"),
    [
        (name_the_numerator, "name=gross_output", "ratio"),
        (name_the_motifs_in_the_title, "title=ratio", "ratio"),
        (word_meanings_by_motif, "meaning=limit", "threshold"),
        (put_the_rule_first, "place=0", "none"),
    ],
)
def test_every_planted_leak_is_caught_and_named(plant: Plant, word: str, motif: str) -> None:
    found = release(60, plant)
    assert found.verdict == "leaks"
    assert (word, motif) in {(telltale.word, telltale.motif) for telltale in found.words if telltale.leaks}
    assert found.words[0].of_all > WORD_MARGIN
    assert found.words[0].word in found.detail


def test_too_few_designs_are_not_judged() -> None:
    found = release(9, put_the_rule_first)
    assert (found.verdict, found.log_loss) == ("too_small", None)
    assert "too few" in found.detail


def test_the_outcome_depends_neither_on_order_nor_on_replicates() -> None:
    specs = [make_spec(number) for number in range(30)]
    assert check_meta_leak([*specs[1::2], *specs]) == check_meta_leak(specs)


@pytest.mark.parametrize(("is_told", "verdict"), [(True, "clean"), (False, "leaks")])
@pytest.mark.slow
def test_designs_steered_from_one_another_are_learnt_and_tested_together(is_told: bool, verdict: str) -> None:
    """Each family has names of its own: who saw one design of it knows the others, and that is no leak."""
    specs = []
    for family in range(20):
        names = tuple(f"{name}_{family}" for name in NUMBERS)
        for rows in (90, 110, 130, 150):
            specs.append(make_spec(family, names, f"ancestor {family}" if is_told else None, rows))
    assert check_meta_leak(specs).verdict == verdict


@pytest.mark.parametrize(("is_stated", "verdict"), [(True, "clean"), (False, "leaks")])
@pytest.mark.slow
def test_what_the_text_of_a_task_states_is_no_leak(is_stated: bool, verdict: str) -> None:
    """Half of the tasks have two columns of a quantity, which only some of their rules use."""

    def add_a_quantity(spec: TaskSpec) -> TaskSpec:
        draw = np.random.default_rng(int(spec.fingerprint[:8], 16))
        if draw.random() < 0.5:
            return spec
        is_used = bool(draw.random() < 0.6)
        quantity = Formula(top=(("gross",),), bottom=(("net",),))
        words = [Column(name=name, distribution=LogNormal(median=2, sigma=0.5)) for name in ("gross", "net")]
        declared = [*spec.mechanism.columns, *words]
        terms = (*spec.mechanism.terms, Term(motif=quantity, weights=(1.0,))) if is_used else spec.mechanism.terms
        columns = tuple(declared[place] for place in draw.permutation(len(declared)))
        mechanism = spec.mechanism.model_copy(update={"columns": columns, "terms": terms})
        hint = Hint(fact=Form(name="share", motif=quantity), text="The share is gross over net.", matters=is_used)
        story = spec.story.model_copy(update={"column_meanings": {**meanings_of(spec), "gross": "Gross", "net": "Net"}})
        return renew(spec, mechanism=mechanism, story=story, hints=(hint,) if is_stated else ())

    assert release(300, add_a_quantity).verdict == verdict
