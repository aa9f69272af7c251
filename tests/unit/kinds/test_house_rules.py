"""Rules that descriptions of token tasks state: they cover test tokens, training has none, and readers follow them."""

import numpy as np
import polars as pl
import pytest

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.text.layout import DATED, JSON_ROWS
from sandmill.kinds.token import panel as tokens
from sandmill.kinds.token.channel import speech_of
from sandmill.kinds.token.layout import LAYOUTS
from sandmill.kinds.token.render import fill
from sandmill.kinds.token.speech import say_by_custom
from sandmill.models.calibration import Rung
from sandmill.models.spec import Sizes
from sandmill.models.texts import DESCRIPTION
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission
from tests.factories import BRIEF
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


ODD = ['"He said, ""no"""', "два, три", "“四”，五", 'a "b"', "plain"]


def facts_with(id_column):
    asked = {"id_column": id_column, "target_column": "granted", "submission_columns": ("granted",)}
    return BRIEF.model_copy(update=asked)


FACTS = facts_with("id")
NESTED = '{"title": "Ein „Titel“", "body": "Text, \\"zitiert\\""}'
TEST = pl.DataFrame({"id": ["c", "d"], "days": [3, 4], "size": [0.1, None], "letter": [NESTED, NESTED]})
TRAIN = pl.DataFrame(
    {
        "id": ["a", "b"],
        "days": [1, 2],
        "size": [0.5, 2.0],
        "warmth": [0.25, 0.5],
        "letter": [NESTED, NESTED],
        "granted": ["0", "1"],
    }
)
FEATURES, LATER = ("days", "size", "letter"), ("warmth",)


def read_after(old, new):
    files = JSON_ROWS.write(TRAIN, TEST, FACTS)
    return JSON_ROWS.read(files | {"train.json": files["train.json"].replace(old, new)}, FACTS, FEATURES, LATER)


def test_lists_of_objects_are_read_back_as_they_were_written():
    files = JSON_ROWS.write(TRAIN, TEST, FACTS)
    items = JSON_ROWS.read(files, FACTS, FEATURES, LATER)
    assert items.faults == ()
    assert items.train.columns == TRAIN.columns
    assert items.train["letter"].to_list() == [NESTED, NESTED]
    assert items.test["size"].to_list() == ["0.1", None]
    assert items.train["granted"].to_list() == ["0", "1"]
    assert not JSON_ROWS.shows_target(files, FACTS)
    assert list(JSON_ROWS.excess(files, Sizes.model_construct(train=2, feedback=1, final=1))) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'"days": 1', b'"days": 1, "days": 1', "written in another way"),
        (b'"days": 1', b'"days":  1', "written in another way"),
        (b'"days": 1', b'"days": NaN', "not JSON"),
        (b'"days": 1', b'"days": 1e999', "not JSON"),
        (b'"id": "a"', b'"id": "\\ud800"', "not JSON"),
        (b'"days": 1', b'"days": [1]', "neither texts nor numbers"),
        (b'"days": 1', b'"day": 1', "saw fields"),
        (b"[\n{", b"[" * 100_000 + b"{", "not JSON"),
    ],
)
def test_what_another_writer_would_write_is_a_fault(old, new, fault):
    assert fault in " ".join(read_after(old, new).faults)


def test_texts_that_are_ids_survive_files_and_submissions():
    facts = facts_with("comment")
    train = pl.DataFrame({"comment": ODD, "day": ["2020-01-01"] * 5, "granted": ["0", "1"] * 2 + ["0"]})
    test = train.drop("granted")
    files = DATED.write(train, test, facts)
    assert files["train.csv"].startswith(b"granted,day,comment\n")
    items = DATED.read(files, facts, ("day",))
    assert items.faults == ()
    assert items.train["comment"].to_list() == ODD
    assert items.test.columns == ["comment", "day"]
    submission = pl.DataFrame({"comment": ODD[::-1], "granted": [0.1, 0.2, 0.3, 0.4, 0.5]}).write_csv().encode()
    assert parse_submission(submission, facts, ODD).tolist() == [0.5, 0.4, 0.3, 0.2, 0.1]
