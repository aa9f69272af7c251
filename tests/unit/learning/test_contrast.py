"""The primary contrast is read from its file, and its rival is chosen without the final tables."""

from pathlib import Path

import pytest

from sandmill.errors import InputError
from sandmill.learning.contrast import decide, load_contrast
from tests.learning_arms import scored_rows

REGISTERED = load_contrast(Path("benchmarks/learning/registered.yaml"))


def rows(arm, development, final, **values):
    return [
        *scored_rows(arm, dict.fromkeys("abc", development), source="development", **values),
        *scored_rows(arm, dict.fromkeys("xyz", final), source="final", **values),
    ]


def test_the_development_tables_choose_the_rival():
    every = rows("grpo-gap", 0.8, 0.8) + rows("rejection", 0.7, 0.5) + rows("best-single", 0.6, 0.9)
    verdict = decide(REGISTERED, every)
    assert verdict.rival == "rejection"
    assert verdict.difference.estimate == pytest.approx(0.3)
    assert verdict.passes
    equal = rows("grpo-gap", 0.8, 0.8) + rows("rejection", 0.7, 0.8) + rows("best-single", 0.6, 0.1)
    assert not decide(REGISTERED, equal).passes


def test_only_greedy_rows_are_compared():
    every = rows("grpo-gap", 0.8, 0.8) + rows("rejection", 0.7, 0.5) + rows("best-single", 0.6, 0.9)
    assert decide(REGISTERED, every + rows("grpo-gap", 0.1, 0.1, temperature=1.0)) == decide(REGISTERED, every)


def test_an_arm_without_rows_is_named():
    with pytest.raises(InputError, match=r"best-single.*\n|rejection"):
        decide(REGISTERED, rows("grpo-gap", 0.8, 0.8))


@pytest.mark.parametrize("text", [None, "[", "name: x\narms: 3\n"])
def test_a_file_that_is_no_contrast_is_refused(tmp_path, text):
    path = tmp_path / "contrast.yaml"
    if text:
        path.write_text(text)
    with pytest.raises(InputError, match=r"contrast\.yaml"):
        load_contrast(path)
