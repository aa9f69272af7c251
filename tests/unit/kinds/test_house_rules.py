"""Rules that descriptions of token tasks state: they cover test tokens, training has none, and readers follow them."""

import numpy as np
import pytest

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.token import panel as tokens
from sandmill.kinds.token.channel import speech_of
from sandmill.kinds.token.layout import LAYOUTS
from sandmill.kinds.token.render import fill
from sandmill.kinds.token.speech import say_by_custom
from sandmill.models.calibration import Rung
from sandmill.models.texts import DESCRIPTION
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission
from tests.unit.draw.token_tasks import token_spec

LANGUAGES = ("english", "russian")
TWINS = {"reader_bayes": "bayes_tuned", "reader_linear": "linear_wide", "reader_vote": "vote_of_three"}
"""Reader to the solver that does the same without the rules."""


@pytest.fixture(scope="module", params=["english", pytest.param("russian", marks=pytest.mark.slow)])
def task(request):
    spec = token_spec(f"tokens_{request.param}", hardness=0.4)
    return spec.channel, render(spec, b"secret")


def tokens_of(rendered, part):
    package = rendered.package
    items = LAYOUTS[package.facts.kind].read(package.public, package.facts, package.spec.feature_columns)
    return [cell.split("\n") for cell in getattr(items, part)["before"]]


def rules_for(channel, token):
    return [rule for rule in channel.house if say_by_custom(channel.language, rule.match, rule.says, token)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_covers_its_tokens_and_no_others(language):
    speech, draws = speech_of(language), iter(np.random.default_rng(0).random(100_000).tolist())
    usual = [fill(pattern, draws) for group in speech.groups for pattern in group.patterns for _ in range(30)]
    for word in speech.house:
        for says in word.says:
            own = [*word.examples, *(fill(pattern, draws) for pattern in word.patterns for _ in range(30))]
            said = [say_by_custom(language, word.match, says, token) for token in own]
            assert all(said)
            assert not any("None" in words or "{" in words for words in said if words), word.match
            assert not any(say_by_custom(language, word.match, says, token) for token in usual), word.match


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_ways_to_read_a_token_differ_and_none_is_what_people_guess(language):
    for word in speech_of(language).house:
        for token in word.examples:
            said = [say_by_custom(language, word.match, says, token) for says in word.says]
            assert len({*said, tokens.guess(language, token)}) == len(said) + 1, (token, said)


def test_the_description_states_the_rules_by_words_that_were_rendered(task):
    channel, rendered = task
    text = rendered.package.public[DESCRIPTION].decode()
    assert len(channel.house) == 2
    for rule in channel.house:
        assert rule.text in text
        assert text.count(rule.text) == 1
        one, said, two, other = rule.parameters
        assert say_by_custom(channel.language, rule.match, rule.says, one) == said
        assert say_by_custom(channel.language, rule.match, rule.says, two) == other
        assert said in rule.text
        assert other in rule.text


def test_test_tokens_follow_the_rules_and_training_has_none(task):
    channel, rendered = task
    assert not any(rules_for(channel, token) for row in tokens_of(rendered, "train") for token in row)
    found = 0
    for row, cells in enumerate(tokens_of(rendered, "test")):
        for place, token in enumerate(cells):
            for rule in rules_for(channel, token):
                said = say_by_custom(channel.language, rule.match, rule.says, token)
                assert rendered.answers.truth[row, place] == said == rendered.oracle[row, place]
                found += 1
    assert found > 0.4 * len(rendered.answers.truth)


def test_readers_beat_their_blind_twins_by_the_tokens_of_the_rules(task, tmp_path):
    channel, rendered = task
    write_files(tmp_path, rendered.package.public)
    panel = OwnPanel(tmp_path, rendered.package.facts)
    metric, truth = get_metric(rendered.package.facts.metric), rendered.answers.truth
    reading = panel.reading(channel.cues)
    readers = {run.name: metric.score(truth, run.prediction) for run in panel.run_readers(reading)}
    blind = {run.name: metric.score(truth, run.prediction) for run in panel.run(list(set(TWINS.values())))}
    (guessed,) = panel.run_adversaries()
    ruled = sum(bool(rules_for(channel, token)) for row in tokens_of(rendered, "test") for token in row)
    share = ruled / sum(map(len, tokens_of(rendered, "test")))
    for reader, twin in TWINS.items():
        assert readers[reader] == pytest.approx(blind[twin] + share, abs=1e-9)
    assert metric.score(truth, guessed.prediction) < max(readers.values()) - share / 2
    assert panel.reading(()) is None


def test_the_reference_script_follows_the_rules_and_no_other_does(task, tmp_path):
    channel, rendered = task
    facts, answers = rendered.package.facts, rendered.answers
    write_files(tmp_path, rendered.package.public)
    data, scores = tokens.read(tmp_path, facts), {}
    for script in tokens.ladder(facts, data, channel.cues):
        if script.rung not in scores:
            with script_surroundings(tmp_path, tmp_path / "submission.csv"):
                run_source(script.source, {"__name__": "__main__"})
            said = parse_submission((tmp_path / "submission.csv").read_bytes(), facts, answers.ids, answers.lengths)
            followed = [
                said[row, place] == answers.truth[row, place]
                for row, cells in enumerate(tokens_of(rendered, "test"))
                for place, token in enumerate(cells)
                if rules_for(channel, token)
            ]
            scores[script.rung] = np.mean(followed)
    assert scores == {Rung.REFERENCE: 1.0, Rung.COMPETENT: 0.0, Rung.NAIVE: 0.0}
