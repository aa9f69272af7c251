"""Commands for the papers' claims: arms that can be resumed, tables, and what a batch of runs writes."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from benchmarks.learning import claims, improvement
from benchmarks.learning.claim_bench import some
from benchmarks.learning.claims import ArmResult, ClaimRequest, publish, run_arms
from sandmill.errors import InputError
from sandmill.learning.results import Scored
from sandmill.learning.statistics import mean_interval


@pytest.fixture
def request_(tmp_path: Path) -> ClaimRequest:
    return ClaimRequest("toy", "ref", 2, 5, tmp_path / "out", tmp_path / "cache", 3, 3, is_smoke=False)


def _result(arm: str, seed: int, gap: float = 0.5) -> ArmResult:
    rows = [
        Scored(arm=arm, seed=seed, task_id=name, family=name, source="toy", gap=gap, valid=True, script_digest="d")
        for name in ("a", "b")
    ]
    return ArmResult(rows, [{"number": float(number), "gap": gap} for number in range(3)])


def test_finished_arms_are_read_and_not_run_again(request_: ClaimRequest) -> None:
    calls: list[tuple[str, int]] = []

    def arm(seed: int) -> ArmResult:
        calls.append(("x", seed))
        if calls.count(("x", 1)) == 1 and seed == 1:
            raise KeyboardInterrupt
        return _result("x", seed)

    with pytest.raises(KeyboardInterrupt):
        run_arms(request_, {"x": arm})
    found = run_arms(request_, {"x": arm})
    assert calls == [("x", 0), ("x", 1), ("x", 1)]
    assert found["x"][0] == _result("x", 0)


def test_an_arm_without_its_curve_is_run_again(request_: ClaimRequest) -> None:
    run_arms(request_, {"x": lambda seed: _result("x", seed)})
    (request_.to / "arms" / "x" / "0" / "curve.json").unlink()
    found = run_arms(request_, {"x": lambda seed: _result("x", seed, gap=0.9)})
    assert found["x"][0].rows[0].gap == 0.9
    assert found["x"][1].rows[0].gap == 0.5


def test_results_of_other_settings_are_refused(request_: ClaimRequest) -> None:
    run_arms(request_, {"x": lambda seed: _result("x", seed)})
    with pytest.raises(InputError, match="updates"):
        run_arms(replace(request_, updates=6), {"x": lambda seed: _result("x", seed)})
    assert len(run_arms(replace(request_, seeds=3), {"x": lambda seed: _result("x", seed)})["x"]) == 3


def test_an_unknown_arm_is_refused_before_anything_runs(request_: ClaimRequest) -> None:
    with pytest.raises(InputError, match="--arms"):
        run_arms(replace(request_, arms=("y",)), {"x": lambda seed: _result("x", seed)})
    assert not request_.to.exists()


def test_all_rows_curves_and_charts_are_written(request_: ClaimRequest, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_arms(request_, {name: lambda seed, name=name: _result(name, seed) for name in ("x", "y")})
    publish(request_, found, "| table |", {"chart": "<svg/>"})
    assert pl.read_parquet(request_.to / "results.parquet").height == 2 * 2 * 2
    assert pl.read_parquet(request_.to / "curves.parquet").height == 2 * 2 * 3
    assert (request_.to / "chart.svg").read_text() == "<svg/>"
    assert "| table |" in capsys.readouterr().out


def test_an_interval_over_seeds_needs_two(request_: ClaimRequest) -> None:
    assert claims.over_seeds([0.5]) == "0.500"
    assert claims.over_seeds([0.4, 0.6]) == "0.500 [-0.771, 1.771]"


def test_a_gain_over_nothing_is_a_dash() -> None:
    zero, half = _result("x", 0, gap=0.0).rows, _result("y", 0).rows
    assert claims.gain(half, zero) == "-"
    assert claims.gain(half, half).startswith("+0.0 %")
    assert claims.number(mean_interval(half)) == "0.500 [0.500, 0.500]"


def test_bad_numbers_are_refused_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as caught:
        claims.parse("toy", "doc", ["--seeds", "0", "--updates", "0"], updates=3)
    assert {problem.where for problem in caught.value.problems} == {"--seeds", "--updates"}


def test_a_choice_of_tasks_takes_one_of_each_family_first() -> None:
    tasks: Any = [SimpleNamespace(id=f"{name}.d{draw}", family=name) for name in "abcde" for draw in range(5)]
    assert {task.family for task in some(tasks, 5)} == set("abcde")
    assert some(tasks[::-1], 7) == some(tasks, 7)
    assert len(some(tasks, 99)) == 25


def test_a_release_that_does_not_exist_ends_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--release", str(tmp_path / "none"), "--to", str(tmp_path / "out"), "--cache", str(tmp_path)]
    with pytest.raises(SystemExit) as caught:
        claims.run(lambda: improvement.main(arguments))
    assert caught.value.code == 2
    assert "none" in capsys.readouterr().err
