"""Every domain is rich, plausible, unlike the others and well said, and what is designed in it passes the gates."""

import re
import string
from collections import Counter
from datetime import date, timedelta
from itertools import combinations

import pytest

from sandmill.check import check_package
from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design import design_task, grammar
from sandmill.design.conditions import choose_conditions
from sandmill.design.motifs import HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.prose import meanings_of
from sandmill.design.rule import rule_of, rule_problems
from sandmill.design.soundness import domain_problems
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.draw import render
from sandmill.kinds.library import load_domains
from sandmill.models.base import Band
from sandmill.models.columns import LogNormal, Normal
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import Domain
from sandmill.models.english import text_faults
from sandmill.models.motifs import LocalRule, columns_of
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed, with_small_test

DOMAINS = load_domains()
EACH = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)


def _columns(domain):
    return (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)


def _targets(domain):
    targets = domain.targets
    numbers = (*targets.regression, *targets.ordinal, *targets.count)
    return (*targets.binary, *targets.multiclass, *numbers, *targets.multilabel)


def _labels(domain):
    return [label for target in domain.targets.multilabel for label in target.labels]


def _vocabulary(domain):
    """Whatever can head a column of train.csv."""
    return [word.name for word in (*_columns(domain), *_targets(domain))] + _labels(domain)


def _values(domain):
    """Levels, classes and labels, each with the column they belong to."""
    levels = [(word.name, level) for word in domain.categorical for level in word.levels]
    classes = [(target.name, name) for target in domain.targets.multiclass for name in target.classes]
    return levels + classes + [(target.name, name) for target in domain.targets.multilabel for name in target.labels]


@EACH
def test_a_domain_offers_enough_of_everything(domain):
    assert len(domain.numeric) >= 14
    assert len(domain.categorical) >= 5
    assert min(len(domain.ratios), len(domain.products)) >= 7
    assert len(domain.periods) >= 3
    assert len({period for _, period in domain.periods}) >= 2
    assert len(domain.high_cardinality) >= 2
    assert min(len(domain.dates), len(domain.units)) >= 1
    assert {len(word.levels) for word in domain.categorical} <= set(range(2, 13))
    assert len({len(word.levels) for word in domain.categorical}) >= 2
    assert 3 <= len(domain.overview) <= 5
    targets = domain.targets
    assert len(targets.binary) >= 3
    assert len(targets.multiclass) >= 2
    assert len(targets.regression) >= 4
    assert min(len(targets.ordinal), len(targets.count), len(targets.multilabel)) >= 1
    assert min(len(target.classes) for target in targets.multiclass) >= 9
    assert min(len(target.labels) for target in targets.multilabel) >= 6


@EACH
def test_dates_say_so_and_span_one_to_three_years_of_the_recent_past(domain):
    for word in domain.dates:
        assert word.name.endswith("_on")
        assert re.match(r"Date (on which|of) ", word.meaning), word.name
        assert date(2015, 1, 1) <= word.first <= date(2023, 12, 31)
        assert word.first + timedelta(days=word.days) <= date(2025, 12, 31)
        assert 400 <= word.days <= 1100


@EACH
def test_pairs_are_distinct_and_one_never_leaves_the_other_kind_without_a_free_pair(domain):
    ratios, products = ([frozenset(pair) for pair in pairs] for pairs in (domain.ratios, domain.products))
    assert {len(pair) for pair in (*ratios, *products)} == {2}
    assert len({*ratios, *products}) == len(ratios) + len(products)
    for first, second in ((ratios, products), (products, ratios)):
        assert all(any(not pair & other for other in second) for pair in first)
    # Nobody learns from a name whether its column is in a pair: all that can be in one are, none in many.
    numeric = {word.name for word in domain.numeric}
    of_ratios, of_products = (Counter(name for pair in pairs for name in pair) for pairs in (ratios, products))
    lognormal = {word.name for word in domain.numeric if isinstance(word.distribution, LogNormal)}
    assert lognormal - set(of_ratios) == set()
    assert numeric - {name for name, _ in domain.periods} - set(of_products) == set()
    assert max(*of_ratios.values(), *of_products.values()) <= 5


def test_two_domains_share_hardly_a_word():
    for first, second in combinations(DOMAINS, 2):
        assert len({*_vocabulary(first)} & {*_vocabulary(second)}) <= 2, (first.name, second.name)
        values = ({value for _, value in _values(domain)} for domain in (first, second))
        assert len(set.intersection(*values)) <= 4, (first.name, second.name)


@pytest.mark.parametrize(
    ("domain", "hardness"),
    [
        pytest.param(
            domain, hardness, marks=[pytest.mark.slow] if place % 4 != 2 * hardness else [], id=f"{domain.name}-{h}"
        )
        for place, domain in enumerate(DOMAINS)
        for h, hardness in (("easy", 0), ("hard", 1))
    ],
)
def test_designs_of_a_domain_pass_every_gate(domain, hardness, monkeypatch):
    """Domains take turns; three in four are slow."""
    monkeypatch.setattr(grammar, "load_domains", lambda: (domain,))
    target, metric = TASKS[(hardness + DOMAINS.index(domain)) % len(TASKS)]
    slot = Slot(number=hardness, seed=make_seed(target, metric), band=Band.MEDIUM)
    spec = design_task(slot, Streams(SECRET, f"domain {hardness}"), float(hardness))
    assert spec.domain == domain.name
    # As many rows as most published tests have.
    assert check_package(render(with_small_test(spec, 1500, 3000), SECRET).package) == []


@EACH
def test_no_unit_is_so_coarse_that_rounding_takes_a_column_away(domain):
    words = {word.name: word for word in domain.numeric}
    for conversion in domain.knows.conversions:
        word = words[conversion.column]
        law = word.distribution
        deviation = law.sd if isinstance(law, Normal) else law.median * law.sigma
        for unit in conversion.units:
            assert 10.0**-word.decimals < 0.25 * unit.factor * deviation, (word.name, unit.unit)


def texts_of(domain):
    """Yield the texts of a domain with what fills their holes."""
    words, knows, said = domain.words, domain.knows, meanings_of(domain)

    def value(when):
        return "rye or spelt" if when.side == "levels" else f"12 {said[when.column].unit}".strip()

    for word in knows.formulas:
        texts = words.formulas[word.name]
        yield from ((text, {}) for text in texts.means)
        yield from ((text, {"n": "1.8"}) for text in (*texts.limits, *texts.norms))
    for word in knows.conditions:
        values = dict(zip(("first", "second"), map(value, word.when), strict=False))
        yield from ((text, values) for text in words.conditions[word.name])
    yield from ((text, {"norms": "3 for oak and 4 for elm"}) for word in knows.norms for text in words.norms[word.name])


@EACH
def test_people_of_a_domain_can_say_every_column_and_fact(domain):
    columns = {word.name for word in (*domain.numeric, *domain.categorical, *domain.high_cardinality)}
    assert set(domain.words.columns) == columns
    for text, holes in texts_of(domain):
        found = re.findall(r"\{(\w+)\}", text)
        assert sorted(found) == sorted(holes), text
        assert not re.search(r'[0-9`"#|*]', text), text
        assert not list(text_faults(text.format(**holes))), text


@EACH
def test_a_paraphrase_means_one_column_alone(domain):
    literal = {said.phrase.lower() for said in meanings_of(domain, has_paraphrases=False).values()}
    said = Counter(phrase.lower() for phrases in domain.words.columns.values() for phrase in phrases)
    assert set(said.values()) == {1}
    assert not literal & set(said)


def test_no_text_stands_twice():
    texts = Counter(text for domain in DOMAINS for text, _ in texts_of(domain))
    assert set(texts.values()) == {1}


@EACH
def test_knowledge_names_columns_levels_and_targets(domain):
    knows, levels = domain.knows, {word.name: word.levels for word in domain.categorical}
    numeric = {word.name: word.distribution for word in domain.numeric}
    many = {word.name for word in domain.high_cardinality}
    positive = {column for column, law in numeric.items() if isinstance(law, LogNormal)}
    every = {*numeric, *levels}
    assert {load for factor in knows.factors for load in factor.loads} <= every
    assert len(knows.factors) >= 2
    assert len({load for factor in knows.factors for load in factor.loads}) >= 0.6 * len(every)
    for column, order in knows.level_orders.items():
        assert sorted(order) == sorted(levels[column]), column
    in_factors = {load for factor in knows.factors for load in factor.loads} & set(levels)
    assert in_factors <= set(knows.level_orders)
    assert set(knows.targets) == {target.name for _, targets in domain.targets for target in targets}
    for target, prior in knows.targets.items():
        for act in prior.acts:
            wanted = 2 if act.form in ("ratio", "interaction", "difference") else 1
            assert len(act.columns) == wanted, (target, act)
            pool = set(levels) if act.form == "lookup" else positive if act.form == "ratio" else set(numeric)
            assert set(act.columns) <= pool, (target, act)
    for identity in knows.identities:
        assert set(identity.of) <= set(numeric), identity.name
        assert identity.name not in every, identity.name
    for order in knows.orders:
        assert {order.lower, order.upper} <= set(numeric)
    for out in knows.exclusions:
        assert out.column in numeric, out
        assert set(out.levels) < set(levels[out.by]), out
    for formula in knows.formulas:
        named = {column for part in (*formula.top, *formula.bottom) for column in part}
        assert named <= positive, formula.name
        assert len(named) >= 3, formula.name
        for text in formula.texts:
            assert set(re.findall(r"`(\w+)`", text)) >= named, (formula.name, text)
    for condition in knows.conditions:
        places = {"{first}", "{second}"} if len(condition.when) == 2 else {"{first}"}
        for when in condition.when:
            assert when.column in (levels if when.side == "levels" else numeric), condition.name
        assert condition.column is None or condition.column in numeric
        for text in condition.texts:
            fields = {field.split("_")[-1] for _, field, _, _ in string.Formatter().parse(text) if field}
            assert {f"{{{field}}}" for field in fields} == places, text
            named = {when.column for when in condition.when} | ({condition.column} - {None})
            assert set(re.findall(r"`(\w+)`", text)) >= named, text
    for norm in knows.norms:
        assert norm.column in numeric, norm.name
        assert norm.by in levels, norm.name
        assert all(text.count("{norms}") == 1 for text in norm.texts), norm.name
        assert all(f"`{norm.column}`" in text for text in norm.texts), norm.name
    for table in knows.code_tables:
        assert table.column in {*levels, *many}
        assert table.low < table.high
    for conversion in knows.conversions:
        assert conversion.column in numeric, conversion.column
        assert conversion.by in levels, conversion.column
        assert (conversion.units[0].factor, conversion.units[0].offset) == (1, 0)
    if knows.child:
        assert all(text.count("{summary}") == 1 for text in knows.child.texts)
    if knows.notes:
        for value in knows.notes.values:
            shown = levels.get(value.column, ("7", "12.5"))
            for phrase in value.phrases:
                for word in shown:
                    said = phrase.replace("{value}", word.replace("_", " "))
                    assert re.search(value.pattern, said).group(1) == word.replace("_", " "), (value.column, said)
                for other in knows.notes.values:
                    if other is not value:
                        assert not re.search(other.pattern, phrase.replace("{value}", shown[0])), (phrase, other.column)
            assert not any(re.search(value.pattern, filler) for filler in knows.notes.fillers), value.column


@EACH
def test_a_domain_knows_enough(domain):
    knows = domain.knows
    least = {"overviews": 3, "asides": 8, "formulas": 4, "conditions": 5, "norms": 2, "code_tables": 2}
    counts = {field: len(getattr(knows, field)) for field in (*least, "conversions")}
    assert not {field: counts[field] for field, count in least.items() if counts[field] < count}
    assert counts["conversions"] >= 1
    assert None not in (knows.child, knows.notes)


AUCTIONS = next(domain for domain in DOMAINS if domain.name == "auctions")
STREAMS = Streams(SECRET, "x")
WORDS = choose_vocabulary(AUCTIONS, choose_conditions(make_seed(*TASKS[0]).structure, STREAMS), STREAMS)

SOUND = (
    MotifChoice(kind="linear", columns=("page_views",)),
    MotifChoice(kind="lookup", columns=("style",)),
    MotifChoice(kind="ratio", columns=("reserve_eur", "estimate_eur")),
    MotifChoice(kind="periodic", columns=("sale_week",)),
    MotifChoice(kind="local_rule", columns=("object_weight", "signature")),
)


@EACH
def test_every_domain_of_the_library_is_sound(domain):
    assert domain_problems(domain, GIVEAWAYS) == []


PLANTED = {
    "a name of the files": (("numeric", 0, "name"), "row", "has a meaning of its own"),
    "a name that tells": (("numeric", 0, "name"), "eur_threshold", "speaks of how"),
    "two names alike": (("numeric", 0, "name"), "maker_name", "named 2 times"),
    "a full stop": (("numeric", 0, "meaning"), "Estimate in euros.", "without a full stop"),
    "a secret number": (("overview", 0), "A house sells 4721 lots a year.", "numbers such as 4721"),
    "a giveaway": (("overview", 0), "The hidden rule is simple enough.", "says 'hidden rule'"),
    "a row of another kind": (("row",), "Lots", 'reads "one ..."'),
    "a negative weight": (
        ("numeric", 3, "distribution"),
        {"kind": "normal", "mean": 4, "sd": 2},
        "object_weight: reaches -6",
    ),
    "a wild spread": (("numeric", 0, "distribution", "sigma"), 3, "at most 1"),
    "a wave that is none": (("periods", 0, 1), 51, "periods: sale_week"),
    "a number out of reach": (("targets", "regression", 0, "scale"), 600, "below a quarter"),
}


def _planted(path, value):
    content = AUCTIONS.model_dump(mode="json")
    inner = content
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    content |= {"ratios": [], "products": []}
    if path != ("periods", 0, 1):
        content["periods"] = []
    return Domain.model_validate(content)


@pytest.mark.parametrize("how", PLANTED)
def test_what_is_not_sound_is_told(how):
    path, value, problem = PLANTED[how]
    assert problem in "\n".join(domain_problems(_planted(path, value), GIVEAWAYS))


def test_a_sound_rule_is_made_of_its_columns():
    assert rule_problems(SOUND, WORDS) == []
    conditions = choose_conditions(make_seed(*TASKS[0]).structure, STREAMS)
    rule = rule_of(SOUND, WORDS, conditions, STREAMS.generator("rule"))
    assert [motif.motif for motif in rule.hidden] == ["ratio", "periodic", "local_rule"]
    assert columns_of(rule.hidden[0]) == ("reserve_eur", "estimate_eur")
    assert rule.subgroup.by == "signature"
    assert any(isinstance(motif, LocalRule) for motif in rule.hidden)


@pytest.mark.parametrize("kind", [*PLAIN_KINDS, *HIDDEN_KINDS])
@pytest.mark.parametrize("columns", [("maker_name",), ("nothing",), ("page_views", "style"), ("appraised_on",)])
def test_a_motif_on_columns_that_cannot_carry_it_is_told(kind, columns):
    carried = {
        ("high_cardinality_lookup", ("maker_name",)),
        ("varying_slope", ("page_views", "style")),
        ("local_rule", ("page_views", "style")),
    }
    problems = rule_problems([MotifChoice(kind=kind, columns=columns)], WORDS)
    is_told = any(problem.startswith(f"motif {kind} on") for problem in problems)
    assert is_told == ((kind, columns) not in carried)
