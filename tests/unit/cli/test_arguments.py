"""The command line made from models."""

import contextlib
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.cli.arguments import parse_models
from sandmill.errors import RequestError
from sandmill.models.base import Band, Frozen
from sandmill.models.request import DEFAULT_MIX, BuildRequest, RunSettings

PROG = "python -m flows.build_release"
EXAMPLE = "python -m flows.build_release --name micro --tasks 12"


def _parse(*argv):
    return parse_models(argv, PROG, "Build a release.", EXAMPLE, BuildRequest, RunSettings)


def _problems(*argv):
    with pytest.raises(RequestError) as error:
        _parse(*argv)
    assert error.value.exit_code == 2
    return {problem.where: problem for problem in error.value.problems}


def test_every_option_reaches_its_field():
    request, run = _parse(
        *("--name", "micro", "--tasks", "3", "--seed=9", "--seeds", "a.yaml", "b", "--mix", "easy=0.25,hard=0.75"),
        *("--designer", "grammar", "--replicates", "2", "--root", "s3://bucket/x", "--shard-size", "5"),
        *("--workers", "1", "--secret-file", "key.bin"),
    )
    assert request == BuildRequest(
        name="micro",
        tasks=3,
        seed=9,
        seeds=("a.yaml", "b"),
        mix={Band.EASY: 0.25, Band.HARD: 0.75},
        designer="grammar",
        replicates=2,
    )
    assert run == RunSettings(root="s3://bucket/x", shard_size=5, workers=1, secret_file=Path("key.bin"))


def test_all_values_of_all_models_that_are_wrong_come_at_once():
    problems = _problems(
        *("--name", "No Good", "--tasks", "many", "--mix", "easy=x", "--designer", "gramar"),
        *("--replicates", "99", "--workers", "0", "--root="),
    )
    wrong = {"--name", "--tasks", "--mix easy", "--designer", "--replicates", "--workers", "--root"}
    assert set(problems) == wrong
    assert problems["--designer"].hint == 'Did you mean "grammar"?'
    assert problems["--workers"].expected == "a whole number from 1 to 256"


@pytest.mark.parametrize("words", [["stray"], ["--desginer", "y"], ["--seed", "1", "2"], ["--mix"], ["--tas", "3"]])
def test_words_that_are_no_options_with_their_values_are_refused(words):
    assert list(_problems("--name", "a", *words)) == ["command line"]


def test_a_required_option_that_is_absent_is_named():
    assert _problems()["--name"].saw == "nothing"


@pytest.mark.parametrize(
    ("pairs", "where", "expected"),
    [("easy", "--mix easy", "a number"), ("esy=1", "--mix esy", "one of easy, medium, hard, expert")],
)
def test_a_mapping_that_cannot_be_read_names_the_pair(pairs, where, expected):
    assert _problems("--name", "a", "--mix", pairs)[where].expected == expected


def test_shares_that_do_not_sum_to_one_are_a_problem_of_the_mix():
    assert "sum to 0.5" in _problems("--name", "a", "--mix", "easy=0.5")["--mix"].expected


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "9" * 5000])
@pytest.mark.parametrize("option", ["--price", "--max-usd", "--llm-timeout", "--tasks", "--seed", "--workers"])
def test_a_number_that_is_not_finite_not_positive_or_endless_is_a_problem_of_its_option(option, number):
    pair = f"input={number}" if option == "--price" else number
    (where, problem), *_ = _problems("--name", "a", option, pair).items()
    assert where.startswith(option)
    assert len(str(problem)) < 300


def test_help_lists_every_field_with_its_default_and_ends_with_the_example(capsys):
    with pytest.raises(SystemExit) as end:
        _parse("--tasks", "nonsense", "--help")
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert text.rstrip().endswith(EXAMPLE)
    for model in (BuildRequest, RunSettings):
        for name, field in model.model_fields.items():
            assert f"--{name.replace('_', '-')} " in text
            assert " ".join((field.description or "").split()[:3]) in " ".join(text.split())
    assert ",".join(f"{band}={share}" for band, share in DEFAULT_MIX.items()) in text


class _Odd(Frozen):
    share: float | None = None
    """Share in % of the whole."""
    keep: bool = False
    """Whether to keep."""
    level: Literal["low", "high"] = "low"
    """How loud."""
    names: tuple[str, ...] = ("a", "b")
    """Names to use."""


def test_optional_numbers_switches_and_choices_are_read():
    (odd,) = parse_models(["--share", "0.5", "--keep", "true", "--level", "high"], "odd", "Odd.", "odd", _Odd)
    assert odd == _Odd(share=0.5, keep=True, level="high")


@pytest.mark.parametrize(("words", "value"), [([], False), (["--keep"], True), (["--keep", "--level", "low"], True)])
def test_a_switch_alone_means_true(words, value):
    assert parse_models(words, "odd", "Odd.", "odd", _Odd)[0].keep is value


def test_help_survives_a_percent_sign_and_shows_choices_and_list_defaults(capsys):
    with pytest.raises(SystemExit):
        parse_models(["-h"], "odd", "Odd.", "odd", _Odd)
    text = " ".join(capsys.readouterr().out.split())
    assert "Share in % of the whole. (default: none)" in text
    assert "--level low|high" in text
    assert "Names to use. (default: a b)" in text


def test_no_option_of_a_build_has_two_meanings():
    assert BuildRequest.model_fields.keys().isdisjoint(RunSettings.model_fields)


words = st.text(max_size=8) | st.sampled_from(
    ["--name", "--tasks", "--mix", "--seeds", "--help=1", "--", "-", "-h=", "--=", "-1", "1", "a", "=", "easy=1"]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(words, max_size=8))
def test_any_command_line_gives_models_or_one_request_error(argv):
    with contextlib.suppress(RequestError):
        request, settings_read = _parse(*argv)
        assert isinstance(request, BuildRequest)
        assert isinstance(settings_read, RunSettings)
