import asyncio
import logging
from pprint import pformat

import pytest
from _pytest._io.saferepr import saferepr
from pydantic import ValidationError

import sandmill
from sandmill.errors import InputError, IntegrityError, ReleaseNotFound
from sandmill.models.calibration import Ceiling
from sandmill.models.package import TaskFile
from sandmill.models.reports import Check, Outcome
from sandmill.models.rollout import Act
from sandmill.pipeline.attempt import AttemptJob
from sandmill.rng import Streams
from sandmill.scoring.grading.grade import grade_scores
from sandmill.scoring.submission import read_answers
from sandmill.store.files import cache_folder
from tests.factories import make_task
from tests.publishing import published
from tests.unit.play.runner import PreparedRunner, result_of, sample_of, truth_of


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDMILL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def release(tmp_path):
    return sandmill.load(published(tmp_path / "micro", {0: "train", 1: "validation"}, {2: "train"}).ref)


def test_a_task_of_a_folder_prompts_grades_and_gives_feedback(task):
    opened = sandmill.open_task(task)
    assert opened.id == task.name
    description, dictionary = (task / "public" / name for name in ("description.md", "data_dictionary.md"))
    assert opened.prompt("description") == f"{description.read_text()}\n#{dictionary.read_text()}"
    assert opened.prompt() == sandmill.prompt(task)
    assert opened.prompt("chat", submissions=3) == [{"role": "user", "content": sandmill.prompt(task, submissions=3)}]
    best, sample = opened.grade(truth_of(task)), opened.grade(result_of(submission=sample_of(task)))
    assert (best.outcome, best.medal, best.checks) == (Outcome.OK, "gold", tuple(Check))
    assert best.gap_to_gold > 1
    assert (sample.medal, sample.checks) == (None, tuple(Check)[:-1])
    assert (opened.grade(None).outcome, opened.grade(None).checks) == (Outcome.NO_SUBMISSION, ())
    assert opened.grade(result_of(Outcome.TIMEOUT)).outcome is Outcome.TIMEOUT
    answer = opened.feedback(truth_of(task))
    assert (answer.medal, answer.position, answer.submissions_left) == ("gold", 1, 0)


def test_the_loose_ceiling_and_the_way_to_gold_are_in_the_grade(task):
    opened = sandmill.open_task(task)
    calibration = opened.private.task.calibration
    report = opened.grade(truth_of(task))
    wanted = (report.score - calibration.trivial) / (calibration.thresholds.gold - calibration.trivial)
    assert report.gap_to_gold == pytest.approx(wanted, abs=1e-6)
    assert (report.trivial, report.oracle, report.ceiling_is_loose) == (calibration.trivial, calibration.oracle, False)
    assert report.ceiling_low is None
    ceiling = Ceiling(low=calibration.thresholds.gold, high=calibration.oracle, kind="bracket")
    loose = grade_scores(report.score, 0.5, calibration.model_copy(update={"ceiling": ceiling}))
    assert (loose.ceiling_low, loose.ceiling_is_loose) == (ceiling.low, ceiling.is_loose(calibration.trivial))


def test_what_is_printed_of_a_task_and_an_episode_names_no_answers_thresholds_or_secrets(task, caplog):
    """Logs, tracebacks, notebooks and failed comparisons print objects."""
    opened = sandmill.open_task(task)
    private, truth = opened.private, truth_of(task)
    env = sandmill.MLEnv(opened, sandbox=PreparedRunner([result_of(submission=truth)]))

    async def play():
        return [(await env.reset())[-1], *[(await env.step(act))[-1] for act in (Act.run("code"), Act.finish())]]

    facts, calibration = private.task, private.task.calibration
    secret = b"a release secret"
    objects = [opened, private, *private, facts.spec, calibration, calibration.board[0], opened.grade(truth)]
    objects += [*asyncio.run(play()), env.rollout, Streams(secret, "f"), AttemptJob(None, "plan", secret)]
    shown = [show(one) for one in objects for show in (repr, str, pformat, saferepr)]
    logging.getLogger("sandmill").warning("%s %r", private, env.rollout)
    with pytest.raises(ValidationError) as refused:
        TaskFile.model_validate(facts.model_dump() | {"thresholds": calibration.thresholds.gold})
    text = "\n".join([*shown, caplog.text, str(refused.value)])
    assert max(map(len, shown)) < 2000
    assert facts.task_id in repr(private)
    numbers = [*calibration.thresholds.model_dump().values(), calibration.oracle, calibration.board[0].final]
    hidden = [*map(repr, numbers), *(entry.solver for entry in calibration.board), "truth", "array(", "weight"]
    assert [one for one in [*hidden, secret.decode(), secret.hex()] if one in text] == []


@pytest.mark.parametrize("submission", ["submission.csv", 7])
def test_paths_are_no_submissions(task, submission):
    with pytest.raises(InputError, match="expected a RunResult, its bytes, or None"):
        sandmill.open_task(task).grade(submission)


def test_a_folder_that_is_no_task_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"public/description\.md"):
        sandmill.open_task(tmp_path)


def test_the_limits_in_a_prompt_are_those_of_the_sandbox(task):
    opened = sandmill.open_task(task, sandbox=PreparedRunner([]))
    assert "| memory of all processes together | 777 MB |" in opened.prompt()


def test_opening_a_task_stages_no_other(release, tmp_path):
    task = release.task(make_task(1).record.task_id)
    assert not (tmp_path / "cache").exists()
    files = {path.name: path.read_bytes() for path in task.public.iterdir()}
    assert files == make_task(1).package.public
    (staged,) = (folder for top in cache_folder().glob("public/*") for folder in top.iterdir())
    assert [path.name for path in staged.iterdir()] == ["public"]
    assert task.public == release.task(task.id).public


def test_a_changed_cache_is_refused(release):
    task = release.task(make_task(1).record.task_id)
    (task.public / "train.csv").write_text("a,b\n")
    with pytest.raises(IntegrityError, match=r"changed train\.csv.*Remove "):
        _ = release.task(task.id).public


def test_other_libraries_than_those_of_the_release_are_told(release, caplog, monkeypatch):
    sandmill.load(release.ref)
    assert "was verified with other libraries" in caplog.text
    caplog.clear()
    monkeypatch.setattr("sandmill.play.release.pins_hash", lambda: release.manifest.agent_env)
    sandmill.load(release.ref)
    assert caplog.text == ""


def test_an_unknown_task_is_refused(release):
    with pytest.raises(ReleaseNotFound, match="smnothing"):
        release.task("smnothing")


def test_tasks_of_a_split_are_opened_without_the_files_of_others(release, tmp_path):
    with pytest.raises(InputError, match="no task that has all of these values"):
        release.select(difficulty=(0.31, 1.0))
    for path in (tmp_path / "micro" / release.version).rglob("*-train-*"):
        path.write_bytes(b"PAR1")
    (task_id,) = sandmill.load(release.ref).select(split="validation", metric="roc_auc", difficulty=(0.3, 0.3))
    assert task_id == make_task(1).record.task_id


def test_coroutines_do_the_same(task):
    async def play():
        opened = sandmill.open_task(task, sandbox=PreparedRunner([result_of(submission=truth_of(task))]))
        result = await opened.arun("print(1)", timeout=7)
        return await opened.aprompt(), await opened.agrade(result), await opened.afeedback(result)

    prompt, report, answer = asyncio.run(play())
    opened = sandmill.open_task(task, sandbox=PreparedRunner([]))
    assert prompt == opened.prompt()
    assert (report, answer) == (opened.grade(truth_of(task)), opened.feedback(truth_of(task)))


def test_a_task_of_a_release_is_graded_like_its_pulled_folder(release, tmp_path):
    (folder, *_) = release.pull(tmp_path / "pulled")
    task, pulled = release.task(folder.name), sandmill.open_task(folder)
    submission = sample_of(folder)
    assert task.grade(submission) == pulled.grade(submission)
    assert (
        task.private.answers.ids
        == read_answers((folder / "private/answers.csv").read_bytes(), task.private.task.facts).ids
    )
    assert task.ref == release.ref


def test_the_shared_sandbox_runs_code_of_a_task(agent_env, task):
    opened = sandmill.open_task(task)
    code = "import shutil; shutil.copy('public/sample_submission.csv', 'submission.csv')"
    result = opened.run(code)
    assert (result.outcome, result.submission) == (Outcome.OK, sample_of(task))

    async def play():
        async with sandmill.MLEnv(opened) as env:
            await env.reset()
            await env.step(Act.run(code))
            return await env.step(Act.finish())

    _, reward, terminated, truncated, info = asyncio.run(play())
    assert (terminated, truncated, info["rollout"].chosen) == (True, False, 1)
    assert reward == info["rollout"].reward.total == 0
