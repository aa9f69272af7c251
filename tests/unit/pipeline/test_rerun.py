"""A pulled task proves itself again, and every tampered fact is named."""

from functools import cache

import pytest

from sandmill.calibrate.panel import run_panel
from sandmill.provenance import numeric_versions
from sandmill.verify import rerun, verify
from sandmill.verify.rerun import rerun_task
from sandmill.verify.verify import run_reference
from tests.designs import SECRET
from tests.packages import put
from tests.unit.pipeline.proved import calibrated, proved, recalibrated, rescored

OTHER = b"another secret of 32 bytes......"


def below_the_median():
    return calibrated().board[-2].solver


@pytest.fixture(autouse=True)
def _run_once(monkeypatch):
    """Run the same script or the same panel on the same files once for all tests."""
    monkeypatch.setattr(
        verify, "run_reference", lambda script, public, backend: _script(script, tuple(public.items()), backend)
    )
    monkeypatch.setattr(
        rerun,
        "run_panel",
        lambda folder, told, names: _panel(tuple((p.name, p.read_bytes()) for p in folder.iterdir()), told, (*names,)),
    )


@cache
def _script(script, public, backend):
    return run_reference(script, dict(public), backend)


@cache
def _panel(public, told, names):
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for name, content in public:
            (Path(folder) / name).write_bytes(content)
        return run_panel(Path(folder), told, names)


def problems(record=None, package=None, secret=None):
    return list(rerun_task(package or proved().package, record or proved().record, secret).problems)


def of_other_code(record=None, secret=None):
    return rerun_task(proved().package, record or proved().record, secret, installed="another code")


def with_lineage(record, **update):
    return record.model_copy(update={"lineage": record.lineage.model_copy(update=update)})


@pytest.mark.parametrize("secret", [None, SECRET], ids=["without the secret", "with it"])
def test_a_sound_task_proves_itself_again(secret):
    assert problems(secret=secret) == []


@pytest.mark.parametrize("part", ["final", "feedback"])
def test_a_tampered_line_of_the_board_is_named_with_what_was_found(part):
    entry = next(entry for entry in calibrated().board if entry.solver == below_the_median())
    score = round(getattr(entry, part) - 0.0001, 5)
    (problem,) = problems(recalibrated(board=rescored(calibrated(), below_the_median(), **{part: score})))
    assert problem.startswith(
        f"solver {below_the_median()} scored {entry.final} final, {entry.feedback} feedback; the board has "
    )
    assert f"{score} {part}" in problem


def test_a_solver_that_this_version_does_not_have_is_named():
    board = tuple(
        entry.model_copy(update={"solver": "soft_vote"}) if entry.solver == below_the_median() else entry
        for entry in calibrated().board
    )
    assert problems(recalibrated(board=board)) == [
        "solver soft_vote of the board is not in the panel of this version of sandmill"
    ]


@pytest.mark.parametrize("medal", ["silver", "median"])
def test_a_tampered_threshold_is_found(medal):
    lower = round(getattr(calibrated().thresholds, medal) - 0.001, 5)
    bars = calibrated().thresholds.model_copy(update={medal: lower})
    assert problems(recalibrated(thresholds=bars)) == [
        "thresholds do not follow from what was measured, or are too near each other"
    ]


def test_a_tampered_oracle_is_found_with_the_secret():
    record = recalibrated(oracle=round(calibrated().oracle + 0.001, 5))
    assert problems(record, secret=SECRET) == [
        f"the oracle scored {calibrated().oracle}; recorded is {record.calibration.oracle}"
    ]
    assert problems(record) == []


def test_a_tampered_score_of_a_script_is_found():
    scripts = list(calibrated().scripts)
    found = scripts[2]
    scripts[2] = found.model_copy(update={"final": 0.9})
    assert problems(recalibrated(scripts=tuple(scripts))) == [f"{found.file} scored {found.final}; recorded is 0.9"]
    without = put(proved().package, found.file, None, "private")
    assert f"private/ lacks {found.file}" in problems(package=without)


def test_a_changed_solution_is_found_with_what_it_said():
    problem, other = problems(package=put(proved().package, "solution.py", b"raise SystemExit('no')", "private"))
    assert other.startswith("solution.py scored None; recorded is ")
    assert "does not reach gold: scored None; the script ended runtime_error: exit code 1: no" in problem


def test_another_secret_renders_other_bytes():
    named, rendered = problems(secret=OTHER)
    assert named.startswith("its lineage and the secret give the id sm")
    assert rendered == "rendering the design again gives other bytes: private/answers.csv, " + ", ".join(
        f"public/{name}" for name in sorted(proved().package.public)
    )
    assert rerun_task(proved().package, proved().record, OTHER, installed="0.1.0").problems


def test_other_code_that_renders_or_scores_otherwise_is_named_and_no_problem():
    found = of_other_code(recalibrated(board=rescored(calibrated(), below_the_median(), final=0.9)), OTHER)
    assert found.describe_code().startswith(
        "made by code 0.1.0, this is another code: compared and differs: rendering the design again gives other bytes: "
    )
    assert any(line.startswith(f"solver {below_the_median()} scored") for line in found.differences)
    assert [line for line in found.problems if "solver" in line] == []


def test_other_code_with_equal_results_is_named():
    found = of_other_code(secret=SECRET)
    assert (found.problems, found.differences) == ((), ())
    assert found.describe_code() == "made by code 0.1.0, this is another code: compared and does not differ"


def test_what_no_code_decides_is_a_problem_of_a_task_of_other_code():
    lower = calibrated().thresholds.model_copy(update={"silver": calibrated().thresholds.silver - 0.001})
    assert of_other_code(recalibrated(thresholds=lower)).problems
    assert of_other_code(recalibrated(trivial=0.501)).problems
    scripts = (calibrated().scripts[0].model_copy(update={"final": 0.9}), *calibrated().scripts[1:])
    assert of_other_code(recalibrated(scripts=scripts)).problems


def test_a_design_that_other_code_made_and_this_cannot_render_is_not_compared(monkeypatch):
    def fail(*_):
        raise KeyError("motif")

    monkeypatch.setattr(rerun, "render", fail)
    assert (
        of_other_code(secret=SECRET).differences[0].startswith("the design is not compared, since it does not render")
    )
    assert of_other_code(secret=SECRET).problems == ()
    assert problems(secret=SECRET)[0].startswith("it cannot be repeated")


def test_other_versions_of_libraries_are_noted_where_something_does_not_hold():
    tampered = recalibrated(thresholds=calibrated().thresholds.model_copy(update={"median": 0.7}))
    note = problems(with_lineage(tampered, libraries=numeric_versions() | {"numpy": "0.1"}))[-1]
    assert note == (
        f"note: it was built with numpy 0.1 (here {numeric_versions()['numpy']}); "
        "install those versions to compare exactly"
    )
    assert not any("note" in problem for problem in problems(tampered))


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"board": (*calibrated().board, calibrated().board[-1])}, "is on the board 2 times"),
        ({"board": rescored(calibrated(), "stump", tier="competent")}, "is of tier naive; the board has competent"),
        ({"board": calibrated().board[::-1]}, "the board is not in the order of its final scores"),
        ({"is_lower_better": True}, "in the wrong direction"),
    ],
    ids=["twice", "tier", "order", "direction"],
)
def test_a_contradiction_within_the_record_is_named(update, words):
    assert any(words in problem for problem in problems(recalibrated(**update)))


def test_the_panel_does_not_run_on_a_task_that_is_not_micro(monkeypatch):
    ran = []
    monkeypatch.setattr(rerun, "run_panel", lambda *_: ran.append("panel"))
    monkeypatch.setattr(verify, "is_micro", lambda *_: False)
    assert problems() == ["its rows are not those of its design, or the reference solution took too long"]
    assert not ran
