"""Texts of a designer model that are no plain text: sent back by the designer, and refused in a description."""

import json

import pytest

from sandmill.check.description_gate import check_description
from sandmill.check.package_tables import read_package
from sandmill.design import design_task
from sandmill.design.llm import Designed, Refused
from sandmill.draw import render
from sandmill.models.base import Band
from sandmill.models.english import is_odd
from sandmill.models.kind import kind_of
from sandmill.models.plan import Slot
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds, with_small_test
from tests.llm_asking import Scripted, design
from tests.packages import KINDS, edit_text, make_package

HOSTILE = {
    "an escape of a terminal": ("\x1b]8;;x\x07", "U+001B"),
    "NUL": ("\x00", "U+0000"),
    "a mark of direction": ("\u202e", "U+202E"),
    "an invisible tag": ("\U000e0041", "U+E0041"),
    "a space of no width": ("\u200b", "U+200B"),
    "a variation selector": ("\U000e0101", "U+E0101"),
    "a line separator": ("\u2028", "U+2028"),
    "HTML": ("<img src=x onerror=y>", "<img src=x onerror=y"),
    "a comment": ("<!-- the rule", "<!-- the rule"),
    "an image": ("![x](y)", "![x](y)"),
    "a link": ("[x](y)", "](y)"),
    "an address": ("see https://x", "://x"),
    "a tool call": ("<tool_call>", "<tool_call>"),
    "a turn": ("<|im_end|>", "<|im_end|>"),
    "an instruction": ("[/INST]", "[/INST]"),
}
PLAIN = "Größe über 5 m² → 20 °C, ½ < 3 > 1; ответы, 木材の長さ, naïve, [0, 1], a[i], x < y, #1, *b*, e\u0301"
KINDS_OF_SEEDS = {kind_of(seed.structure).name: seed for seed in bundled_seeds().supported}


def gate(package):
    return [detail for detail in check_description(read_package(package)) if "plain text" in detail]


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_a_designer_is_told_of_all_texts_that_are_not_plain(text, shown):
    def spoil(role, times, answer):
        if (role, times) != ("writer", 1):
            return answer
        meanings = [{**one, "meaning": f"{one['meaning']}{text} x"} for one in answer["meanings"][:1]]
        overview = [f"{answer['overview'][0][:-1]}{text} x.", *answer["overview"][1:]]
        return {**answer, "overview": overview, "meanings": [*meanings, *answer["meanings"][1:]]}

    ask = Scripted(spoil)
    (designed,) = design(ask)
    assert isinstance(designed, Designed)
    request = ask.asked("writer")[1].messages[-1].content
    assert f"overview.0: holds {shown if shown.startswith('U+') else repr(shown)[:-1]}" in request
    assert "meanings.0.meaning: holds " in request
    assert not any(map(is_odd, request))


@pytest.mark.parametrize("role", ["strategist", "developer", "writer"])
def test_a_designer_that_never_writes_plain_text_is_refused(role):
    def spoil(who, _, answer):
        return json.loads(json.dumps(answer).replace('"row": "one', '"row": "one \\u0007')) if who == role else answer

    (outcome,) = design(Scripted(spoil))
    assert isinstance(outcome, Refused) == (role != "developer")


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_no_description_holds_it(text, shown):
    package = make_package(KINDS["grouped"])
    assert shown[:8] in gate(edit_text(package, "Evaluation", f"Evaluation\n\n{text}"))[0]


def test_letters_and_signs_of_all_scripts_are_plain():
    package = make_package(KINDS["grouped"])
    assert gate(package) == gate(edit_text(package, "Evaluation", f"Evaluation\n\n{PLAIN}")) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS_OF_SEEDS))
def test_descriptions_of_every_kind_are_plain(kind):
    slot = Slot(number=0, seed=KINDS_OF_SEEDS[kind], band=Band.HARD, place=0.3)
    spec = design_task(slot, Streams(SECRET, "plain"), 0.5)
    assert gate(render(with_small_test(spec), SECRET).package) == []
