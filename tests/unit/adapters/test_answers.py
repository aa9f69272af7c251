"""The script of an answer."""

import time

import pytest

from sandmill.trainers.single_turn import HOW_TO_ANSWER, last_script


@pytest.mark.parametrize(
    ("message", "script"),
    [
        ("I fit.\n```python\na = 1\n```\nDone.", "a = 1\n"),
        ("```py\na = 1\n```", "a = 1\n"),
        ("```Python3\na = 1\n```", "a = 1\n"),
        ("```\na = 1\n```", "a = 1\n"),
        ("```python\na = 0\n```\nBetter:\n```python\na = 1\n```\n```bash\nls\n```\n```python\na = 3", "a = 1\n"),
        ("<think>\n```python\na = 0\n```\n</think>\n```python\na = 1\n```", "a = 1\n"),
        ("```python\na = 0\n```\n</think>```python\na = 1\n```", "a = 1\n"),
        ("```python\na = 1\n```\n```python\n\n```", "a = 1\n"),
        ("```python\na = 1\n", ""),
        ("<think>\n```python\na = 1\n```\n", ""),
        ("```python\na = 1\n```\n<think> again </think>", ""),
        ("no code", ""),
        ("", ""),
    ],
)
def test_the_last_complete_script_after_the_thoughts_runs(message, script):
    assert last_script(message) == script


def test_models_are_told_the_form_that_is_read():
    assert "starts with ```python" in HOW_TO_ANSWER


@pytest.mark.parametrize("part", ["```python\n", "```\n", "<think>", "</think>```", "```python\nx\n```\n"])
def test_hostile_messages_are_read_in_linear_time(part):
    started = time.process_time()
    last_script(part * 40_000)
    assert time.process_time() - started < 3
