"""Texts of agents, models and releases for which a pattern or a loop could take more time than in proportion to them."""

from collections.abc import Callable
from time import process_time
from types import SimpleNamespace

import pytest

from sandmill.calibrate.appraisal import _numbers
from sandmill.check.description_gate import _FENCE, mentions, says_split, split_sections
from sandmill.design.soundness import domain_problems
from sandmill.errors import shorten, visible
from sandmill.export import grader_parts
from sandmill.llm.provider import read_json
from sandmill.llm.redact import redact
from sandmill.models.names import path_fault
from sandmill.models.rollout import Marker
from sandmill.play.actions import parse_message
from sandmill.play.observation import escape_marks, fence, shorten_middle, shorten_output
from sandmill.rewards.markers import key_of, marker_code, read_markers, without_marker_code
from sandmill.scoring.forms import many_rows, names, numbers
from sandmill.seeds.mlebench import _plain_text
from sandmill.trainers.episode import last_script
from tests.unit.design.test_domains import AUCTIONS

TOKEN = "0123456789abcdef"
CODE = marker_code(Marker.SUBMISSION_WRITTEN, TOKEN)


def meaning_of_two_classes(text: str) -> object:
    told = AUCTIONS.targets.binary[0].model_copy(update={"meaning": text})
    targets = AUCTIONS.targets.model_copy(update={"binary": (told,)})
    return domain_problems(AUCTIONS.model_copy(update={"targets": targets}))


def name_of_domain(text: str) -> object:
    return domain_problems(AUCTIONS.model_copy(update={"title": text, "row": text, "overview": (text,)}))


READERS: dict[str, tuple[Callable[[str], object], tuple[tuple[str, str, str], ...]]] = {
    "code of markers": (
        lambda text: without_marker_code(text, TOKEN),
        (
            (key_of(TOKEN), "return (", ""),
            (f"{CODE}return (", "x, ", ""),
            ("return (x", f", {CODE}", ""),
            ("", f"return (x, {CODE}", ")[0]"),
            ("", f"; {CODE[:40]}", CODE),
        ),
    ),
    "lines of markers": (
        lambda text: read_markers(text, TOKEN),
        ((f"<{key_of(TOKEN)}", " a", ""), ("", f"<{key_of(TOKEN)} a", ""), (f"<{key_of(TOKEN)} ", "a", ">\n")),
    ),
    "JSON of a model": (
        read_json,
        (("```", "\n", ""), ("", "```\n", ""), ("```json", " ", ""), ("", "`", ""), ("", "{", ""), ("", "```\n{", "")),
    ),
    "message of an agent": (
        parse_message,
        (
            ("", "<think>", ""),
            ("", "```python ", ""),
            ("<tool_call><code>", "<tool_call><code>", ""),
            ("", "```python\n``", ""),
            ("```python", " ", ""),
            ("<tool_call><code>", "</code> ", ""),
            ("<tool_call><code></code>", " ", ""),
            ("<tool_call>", " ", "{"),
            ("<tool_call>", "{", ""),
            ("", "<tool_call>", ""),
            ("", "<answer>", ""),
        ),
    ),
    "script of an answer": (
        last_script,
        tuple(("", unit, "") for unit in ("```python\n", "```\n", "<think>", "</think>```", "```python\nx\n```\n")),
    ),
    "marks of tokens": (escape_marks, tuple(("", unit, "") for unit in ("<", "[", "<a", "[A", "`", "<a<", "▁"))),
    "quoted text": (fence, (("", "`", ""), ("", "``` ", ""))),
    "long output": (shorten_output, (("", "\n", "x"), ("", " ", ""))),
    "tokens of a text": (lambda text: shorten_middle(text, 100), (("", "1", ""), ("", "é", ""), ("", "a\n", ""))),
    "text of an error": (lambda text: shorten(visible(text)), (("", "\x1b", ""), ("", " ", "x"))),
    "secrets in a log": (redact, (("", "sk-", "!"), ("", "sk ", ""), ("", "Bearer ", ""), ("Bearer ", "=", ""))),
    "sections of a description": (split_sections, (("## a", " ", "b"), ("##", " ", "b"), ("", "## \n", ""))),
    "example in a description": (_FENCE.search, (("", "```csv\n", ""), ("```csv", " ", ""), ("```csv\n", "``", ""))),
    "split in a description": (
        lambda text: [says_split(text, kind, SimpleNamespace(train="a", test="b")) for kind in ("grouped", "temporal")],
        (("", "\n", "x"), ("\n", " ", "x"), ("", "\n ", "x"), ("", ".", "")),
    ),
    "names in a description": (lambda text: mentions(text, "aa"), (("", "a", ""), ("", "aa_", ""))),
    "numbers in a description": (_numbers, (("", "1", "a"), ("", "1.", "a"), ("", "-1", "a"), ("", "1.1 ", ""))),
    "description of a competition": (_plain_text, (("", "<", ""), ("", "![", ""), ("", "[a](", ""), ("", "![](", ""))),
    "texts of a domain": (
        name_of_domain,
        (("", "0", ""), ("11", "0", ""), ("", "10", ""), ("A", "a", "|"), ("one ", "a", "."), ("", "1 ", "")),
    ),
    "meaning of two classes": (meaning_of_two_classes, (("1 if a", ", 0 if a", "."), ("1 if ", "a", "."))),
    "path in a release": (path_fault, (("", "con", ""), ("", "a-", "."), ("", "a/", "!"))),
    "number in a submission": (numbers._NUMBER.fullmatch, (("", "1", "x"), ("1.", "1", "x"), ("1e", "1", "x"))),
    "long exponent in a submission": (numbers._LONG_EXPONENT.search, (("", "e", ""), ("", "e1", ""), ("", "e+1", ""))),
    "class in a submission": (names._INTEGER_WITH_POINT.fullmatch, (("", "1", "x"), ("1.", "0", "x"), ("1", ".0", ""))),
    "text in a submission": (many_rows.CONTROL.search, (("", "a", ""), ("", " ", ""))),
    "number in an exported grader": (
        grader_parts.NUMBER.fullmatch,
        (("", "1", "x"), ("1.", "1", "x"), (".", "1", "e")),
    ),
}
CASES = [(name, shape) for name, (_, shapes) in READERS.items() for shape in shapes]


@pytest.mark.parametrize(("name", "shape"), CASES, ids=[f"{name} {number}" for number, (name, _) in enumerate(CASES)])
def test_time_grows_no_faster_than_the_text(name: str, shape: tuple[str, str, str]):
    read, (start, repeated, end) = READERS[name][0], shape
    spent = []
    for size in (8_000, 32_000):
        text = start + repeated * (size // len(repeated)) + end
        began = process_time()
        read(text)
        spent.append(process_time() - began)
    # In proportion, the second takes 4 times as long as the first; with the square of the size, 16 times.
    assert spent[1] < max(0.4, 8 * spent[0])
