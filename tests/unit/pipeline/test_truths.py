"""Every truth of a task holds for a sound one, and can be false."""

from itertools import pairwise

import pytest

from sandmill.calibrate.board import leaderboard
from sandmill.calibrate.milestones import milestone_thresholds, reading_margin
from sandmill.calibrate.panel import TRIVIAL
from sandmill.calibrate.stage import Calibrated
from sandmill.kinds.files.tables import TABLES
from sandmill.models.base import Band, Part
from sandmill.models.calibration import RUNG_FILES, BoardEntry, Rung, Tier
from sandmill.models.plan import Attempt, Slot
from sandmill.pipeline.attempt import Ended, prove
from sandmill.verify.records import make_task
from sandmill.verify.verify import (
    LUCK,
    STEP_LIMIT_S,
    best_is_known,
    difficulty_holds,
    is_micro,
    nothing_given_away,
    thresholds_hold,
    trusting_backend,
    verify_task,
)
from tests.designs import SECRET, TASKS, make_seed
from tests.factories import VERIFICATION, make_shard_plan
from tests.milestones import EVERYONE, entries, found_of, with_naive
from tests.packages import put
from tests.unit.pipeline.proved import calibrated, proved, rendered, rescored, scripts

ON_TOP = calibrated().board[0]


def changed(**update):
    return calibrated().model_copy(update=update)


def bars(**update):
    return calibrated().thresholds.model_copy(update=update)


def measured(**update):
    return changed(difficulty=calibrated().difficulty.model_copy(update=update))


def described(text):
    page = rendered().package.public["description.md"] + text.encode()
    return put(rendered().package, "description.md", page)


def verified(package=None, solution=None, calibration=None, again=None):
    """The facts of the sound task with one thing changed."""
    task = proved().package
    scripts = {name: task.private[name].decode() for name in RUNG_FILES.values() if name in task.private}
    if solution is not None:
        scripts = {"solution.py": solution}
    return verify_task(package or task, calibration or calibrated(), scripts, again or task, trusting_backend())[0]


def test_all_truths_hold_for_a_sound_task():
    assert proved().record.verification.holds
    assert list(VERIFICATION.truths) == [
        *("micro-scale", "executed", "best score known", "thresholds apart"),
        *("difficulty measured", "nothing given away", "same bytes again"),
    ]


@pytest.mark.parametrize("name", ["train.csv", "test.csv"])
def test_a_task_with_other_rows_than_designed_is_not_micro(name):
    package = rendered().package
    shorter = b"\n".join(package.public[name].split(b"\n")[:-2]) + b"\n"
    assert is_micro(package, 1.0)
    assert not is_micro(put(package, name, shorter), 1.0)


def test_a_task_whose_reference_takes_too_long_is_not_micro():
    assert is_micro(rendered().package, STEP_LIMIT_S)
    assert not is_micro(rendered().package, STEP_LIMIT_S + 0.01)


def test_the_oracle_must_be_above_trivial():
    assert best_is_known(calibrated())
    ends = (calibrated().oracle, calibrated().trivial)
    assert not best_is_known(changed(trivial=ends[0], oracle=ends[1], is_lower_better=False))
    assert not best_is_known(changed(trivial=0.5, oracle=0.5))


@pytest.mark.parametrize("where", ["board", "informed"])
def test_no_solver_may_be_above_the_oracle_by_more_than_luck(where):
    def with_top(share):
        top = calibrated().trivial + share * (calibrated().oracle - calibrated().trivial)
        board = rescored(calibrated(), ON_TOP.solver, final=top)
        return changed(board=board) if where == "board" else changed(informed=top)

    assert best_is_known(with_top(1 + LUCK / 2))
    assert not best_is_known(with_top(1 + 2 * LUCK))


@pytest.mark.parametrize("name", ["gold", "median"])
def test_every_threshold_must_follow_from_the_board(name):
    assert thresholds_hold(calibrated())
    moved = {name: getattr(calibrated().thresholds, name) + 1e-5}
    assert not thresholds_hold(changed(thresholds=bars(**moved)))
    feedback = calibrated().feedback_thresholds
    other = feedback.model_copy(update={name: getattr(feedback, name) + 1e-5})
    assert not thresholds_hold(changed(feedback_thresholds=other))


def test_thresholds_must_be_two_hundredths_of_the_gap_apart():
    bars = calibrated().thresholds
    smallest = min(a - b for a, b in pairwise((bars.gold, bars.silver, bars.bronze, bars.median)))
    wide = calibrated().trivial + smallest / 0.019
    assert not thresholds_hold(changed(oracle=wide))
    assert thresholds_hold(changed(oracle=calibrated().trivial + smallest / 0.021))


def test_the_order_of_thresholds_must_have_held():
    steadiness = calibrated().steadiness.model_copy(update={"order_held": 0.949})
    assert not thresholds_hold(changed(steadiness=steadiness))


def milestoned(**update):
    """Measures whose thresholds follow from milestones."""
    runs = entries(EVERYONE, 0.05, -0.05, low=0.5, high=0.9)
    found = found_of(runs, gold="readers", margin=reading_margin(runs), feedback_oracle=0.9)
    trivial = BoardEntry(solver=TRIVIAL, tier="trivial", final=0.5, feedback=0.5)
    board = leaderboard([*with_naive(runs, 0.5, 0.9), trivial], is_lower_better=False)
    parts = {"trivial": 0.5, "oracle": 0.9, "is_lower_better": False, "board": board, "milestones": found}
    bars = milestone_thresholds(found, board, Part.FINAL, 0.5, 0.9)
    made = {"rule": "milestones", "thresholds": bars, "feedback_thresholds": bars, "informed": 0.85, **parts}
    return calibrated().model_copy(update=made | update)


def test_milestones_must_follow_from_the_recorded_runs():
    sound = milestoned()
    assert thresholds_hold(sound)
    assert not thresholds_hold(milestoned(rule="ranks"))
    assert not thresholds_hold(milestoned(milestones=None))
    for name in ("gold", "silver", "bronze", "median"):
        moved = sound.thresholds.model_copy(update={name: getattr(sound.thresholds, name) + 1e-5})
        assert not thresholds_hold(milestoned(thresholds=moved))
        assert not thresholds_hold(milestoned(feedback_thresholds=moved))
    first, *others = sound.milestones.entries
    lucky = first.model_copy(update={"shares": (first.shares[0], 0.9, 0.9)})
    assert not thresholds_hold(milestoned(milestones=sound.milestones.model_copy(update={"entries": (lucky, *others)})))
    better = first.model_copy(update={"final": 0.89})
    assert not thresholds_hold(
        milestoned(milestones=sound.milestones.model_copy(update={"entries": (better, *others)}))
    )
    assert not thresholds_hold(milestoned(milestones=sound.milestones.model_copy(update={"feedback_oracle": 0.91})))


def test_gold_of_a_milestone_must_be_within_reach_of_the_informed_solver_or_a_reader():
    sound = milestoned()
    gold, weak = sound.thresholds.gold, round(sound.thresholds.gold - 1e-5, 5)
    assert best_is_known(milestoned(informed=weak))
    blind = tuple(one for one in sound.board if one.tier != "reader")
    assert best_is_known(milestoned(informed=gold, board=blind))
    assert not best_is_known(milestoned(informed=weak, board=blind))
    assert best_is_known(milestoned(informed=None, board=blind))
    assert best_is_known(changed(informed=calibrated().thresholds.bronze))


def test_difficulty_must_follow_from_the_competent_tier():
    value = calibrated().difficulty.value
    assert difficulty_holds(calibrated())
    assert difficulty_holds(measured(value=value + 0.005, high=1.0))
    assert not difficulty_holds(measured(value=value + 0.02, high=1.0))
    of_trivial = {"final": calibrated().trivial}
    board = [one.model_copy(update=of_trivial) if one.tier is Tier.COMPETENT else one for one in calibrated().board]
    assert not difficulty_holds(changed(board=tuple(board)))
    assert not difficulty_holds(measured(low=value + 0.001))
    assert not difficulty_holds(measured(high=value - 0.001))
    other = next(band for band in Band if band is not calibrated().difficulty.band)
    assert not difficulty_holds(measured(band=other))


def test_measures_without_a_gap_or_a_competent_entry_hold_nothing():
    no_gap = changed(oracle=calibrated().trivial)
    nobody = changed(board=tuple(entry for entry in calibrated().board if entry.solver == TRIVIAL))
    for broken in (no_gap, nobody, changed(board=())):
        assert not thresholds_hold(broken)
        assert not difficulty_holds(broken)
    assert not best_is_known(no_gap)


def test_public_holds_four_files_and_no_other():
    assert nothing_given_away(rendered().package, calibrated())
    for name in sorted(TABLES.files):
        assert not nothing_given_away(put(rendered().package, name, None), calibrated())
    assert not nothing_given_away(put(rendered().package, "answers.csv", b"id\n"), calibrated())


def test_the_test_rows_must_not_hold_the_target():
    package = rendered().package
    header, _, rest = package.public["test.csv"].partition(b"\n")
    told = header + b"," + package.facts.target_column.encode() + b"\n" + rest
    assert not nothing_given_away(put(package, "test.csv", told), calibrated())


@pytest.mark.parametrize(
    "word",
    [
        f"{calibrated().thresholds.silver:.5f}",
        *("encoding_search", "sandmill", rendered().package.task_id),
        rendered().package.spec.fingerprint,
    ],
)
def test_the_page_must_not_name_thresholds_solvers_or_the_design(word):
    assert nothing_given_away(described("\nNothing.\n"), calibrated())
    assert not nothing_given_away(described(f"\nThink of {word}.\n"), calibrated())


def test_a_reference_below_gold_is_found():
    nothing = verified(solution="raise SystemExit('no')")
    assert (nothing.reference_score, nothing.reference_is_gold, nothing.scripts_repeat) == (None, False, False)
    facts = verified(solution=submitting(rendered().package.public["sample_submission.csv"]))
    assert not facts.reference_is_gold
    assert not facts.scripts_repeat
    assert facts.sample_wins_nothing


def test_a_sample_that_wins_something_is_found():
    answers = rendered().package.private["answers.csv"].decode().splitlines()
    target = rendered().package.facts.target_column
    perfect = "\n".join([f"id,{target}", *(line.rpartition(",")[0] for line in answers[1:])]) + "\n"
    package = put(proved().package, "sample_submission.csv", perfect.encode())
    facts = verified(package, submitting(b""), again=package)
    assert not facts.sample_wins_nothing
    assert facts.renders_equal_bytes
    assert not verified(put(package, "sample_submission.csv", b"id\n"), submitting(b"")).sample_wins_nothing


@pytest.mark.parametrize(("name", "side"), [("train.csv", "public"), ("answers.csv", "private")])
def test_another_rendering_is_found(name, side):
    content = getattr(proved().package, side)[name]
    other = put(proved().package, name, content[:-2] + b"7\n", side)
    assert verified(solution=submitting(b"")).renders_equal_bytes
    assert not verified(solution=submitting(b""), again=other).renders_equal_bytes


def submitting(content):
    """A script that writes some submission and loads nothing."""
    return f"import pathlib, sys; pathlib.Path(sys.argv[2]).write_bytes({content!r})"


MADE = "reader.py"


def calibration_alone() -> Calibrated:
    return Calibrated(rendered().package, calibrated(), {one.score.file: one.source for one in scripts()}, 1.0)


@pytest.fixture(scope="module")
def ended() -> Ended:
    return prove(calibration_alone(), SECRET)


@pytest.fixture(scope="module")
def published(ended):
    attempt = Attempt(Slot(number=0, seed=make_seed(*TASKS[0]), band=Band.MEDIUM), 0, 1, 0, 0.4)
    made = calibration_alone().with_script(ended.reader)
    return make_task(made, attempt, ended.result, make_shard_plan("micro", range(1)), "0.1.0", SECRET)


def test_a_proof_writes_a_short_script_and_records_what_it_scores(ended, published):
    assert ended.reader.source.count("\n") <= 60
    recorded = published.record.calibration.scripts[-1]
    assert (recorded.rung, recorded.file) == (Rung.READER, MADE)
    assert published.record.verification.script_scores[MADE] == recorded.final
    assert published.package.private[MADE].decode() == ended.reader.source
    assert len(calibrated().scripts) + 1 == len(published.record.calibration.scripts)
