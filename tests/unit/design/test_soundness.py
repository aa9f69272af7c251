"""What the library's own domains keep, a domain that nobody looked at must keep as well."""

import pytest

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design.conditions import choose_conditions
from sandmill.design.motifs import HIDDEN_KINDS, PLAIN_KINDS
from sandmill.design.rule import rule_of, rule_problems
from sandmill.design.soundness import domain_problems
from sandmill.design.vocabulary import choose_vocabulary
from sandmill.kinds.library import load_domains
from sandmill.models.design_draft import MotifChoice
from sandmill.models.domain import Domain
from sandmill.models.motifs import LocalRule, columns_of
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_seed

DOMAINS = load_domains()
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


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
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
