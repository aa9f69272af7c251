"""Actions in the text form."""

import time

import pytest

from sandmill.adapters.actions import HOW_TO_ACT, last_script, parse_action
from sandmill.models.rollout import Act

RUN = Act.run("print(1)\n")


@pytest.mark.parametrize(
    ("message", "act"),
    [
        ("I look first.\n```python\nprint(1)\n```\nNext I will see.", RUN),
        ("```py\nprint(1)\n```", RUN),
        ("```\nprint(1)\n```", RUN),
        ("<think>\n```python\nprint(2)\n```\n</think>\n```python\nprint(1)\n```", RUN),
        ("```python\nprint(2)\n```\n</think>```python\nprint(1)\n```", RUN),
        ("```python\nprint(1)\n```\nStep 1: valid.\n<finish/>", RUN),
        ("I ask now: <submit/>", Act.submit()),
        ("<submit>", Act.submit()),
        ("<finish/>", Act.finish()),
        ('<finish step="12"/>', Act.finish(12)),
        ("<finish step=2 />", Act.finish(2)),
        ("```bash\nls\n```\n<submit/>", Act.submit()),
        ("```python\nx = '<finish/>'\n```", Act.run("x = '<finish/>'\n")),
        ("```python\nprint(1)\n", None),
        ("```python\n\n```", None),
        ("<think> I could write <submit/> now", None),
        ("I finish now.", None),
        ("", None),
        ('<finish step="0"/>', None),
    ],
)
def test_the_first_action_after_the_thoughts_counts(message, act):
    assert parse_action(message) == act


def test_the_form_that_models_are_told_can_be_read():
    finish = HOW_TO_ACT[HOW_TO_ACT.index("`<finish step") + 1 :].partition("`")[0]
    assert parse_action(finish) == Act.finish(2)
    assert "`<submit/>`" in HOW_TO_ACT
    assert "starts with ```python" in HOW_TO_ACT


def test_an_answer_is_its_last_complete_script():
    text = "```python\na = 1\n```\nBetter:\n```python\na = 2\n```\n```bash\nls\n```\n```python\na = 3"
    assert last_script(text) == "a = 2\n"
    assert last_script(f"<think>{text}") == ""
    assert last_script("no code") == ""


@pytest.mark.parametrize("part", ["```python\n", "<finish step=", "```\n", "<think>", "</think>```", "<submit " * 50])
def test_hostile_messages_are_read_in_linear_time(part):
    started = time.process_time()
    parse_action(part * 40_000)
    last_script(part * 40_000)
    assert time.process_time() - started < 3
