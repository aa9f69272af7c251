"""Words of the domains: each says every column and every fact, in form and without faults of language."""

import re
from collections import Counter

import pytest

from sandmill.design.prose import meanings_of
from sandmill.kinds.library import load_domains
from sandmill.models.english import text_faults

DOMAINS = {domain.name: domain for domain in load_domains()}


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


@pytest.mark.parametrize("name", DOMAINS)
def test_people_of_a_domain_can_say_every_column_and_fact(name):
    domain = DOMAINS[name]
    columns = {word.name for word in (*domain.numeric, *domain.categorical, *domain.high_cardinality)}
    assert set(domain.words.columns) == columns
    for text, holes in texts_of(domain):
        found = re.findall(r"\{(\w+)\}", text)
        assert sorted(found) == sorted(holes), text
        assert not re.search(r'[0-9`"#|*]', text), text
        assert not list(text_faults(text.format(**holes))), text


@pytest.mark.parametrize("name", DOMAINS)
def test_a_paraphrase_means_one_column_alone(name):
    domain = DOMAINS[name]
    literal = {said.phrase.lower() for said in meanings_of(domain, has_paraphrases=False).values()}
    said = Counter(phrase.lower() for phrases in domain.words.columns.values() for phrase in phrases)
    assert set(said.values()) == {1}
    assert not literal & set(said)


def test_no_text_stands_twice():
    texts = Counter(text for domain in DOMAINS.values() for text, _ in texts_of(domain))
    assert set(texts.values()) == {1}
