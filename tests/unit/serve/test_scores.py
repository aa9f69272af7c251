import json
import threading
from pathlib import Path

import pytest

import sandmill
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunResult
from sandmill.play.score import score
from sandmill.store.release import load
from tests.servers import Site


@pytest.fixture
def site(open_site, release) -> Site:
    return open_site(release)


@pytest.fixture(scope="module")
def folder(release, tmp_path_factory) -> Path:
    return load(release).pull(tmp_path_factory.mktemp("pulled"))[0]


def right_answers(folder: Path) -> str:
    """A submission that is valid: the sample, with other numbers."""
    return (folder / "public" / "sample_submission.csv").read_text()


def test_runs_are_graded_as_the_library_grades_them(site, folder):
    text = right_answers(folder)
    runs = [
        {"task_id": folder.name, "code": "submit " + text.replace("\n", "\\n")},
        {"task_id": folder.name, "code": "submit id\\n"},
        {"task_id": folder.name, "code": "print nothing"},
    ]
    status, body, _ = site.ask("POST", "/v1/scores", {"runs": runs})
    assert status == 200
    expected = [
        score(folder, RunResult(outcome=outcome, isolation=Isolation.WARM, submission=submission)).model_dump(
            mode="json"
        )
        for outcome, submission in ((Outcome.OK, text.encode()), (Outcome.OK, b"id\n"), (Outcome.NO_SUBMISSION, None))
    ]
    assert [one["score"] for one in body["scores"]] == expected
    assert [one["score"]["outcome"] for one in body["scores"]] == ["ok", "invalid_submission", "no_submission"]


def test_no_answer_shows_the_private_half(site, folder):
    private = (folder / "private" / "answers.csv").read_text()
    rows = [line for line in private.splitlines()[1:] if line]
    text = right_answers(folder)
    run = {"task_id": folder.name, "code": "submit " + text.replace("\n", "\\n")}
    answers = json.dumps(site.ask("POST", "/v1/scores", {"runs": [run]})[1])
    answers += json.dumps(site.ask("POST", f"/v1/grade/{folder.name}", text.encode())[1])
    assert rows
    assert not [row for row in rows if row in answers]
    assert "feedback_score" not in answers


def test_a_submission_alone_is_graded_with_thresholds(site, folder):
    status, body, _ = site.ask("POST", f"/v1/grade/{folder.name}", right_answers(folder).encode())
    assert (status, body["outcome"], set(body["thresholds"])) == (200, "ok", {"gold", "silver", "bronze", "median"})
    assert site.ask("POST", f"/v1/grade/{folder.name}", b"\xff\x00")[1]["outcome"] == "invalid_submission"
    assert site.ask("POST", "/v1/grade/unknown", b"")[0] == 422


@pytest.mark.parametrize(("preset", "word"), [("most", "preset"), ("gap", "private")])
def test_an_unknown_preset_and_a_task_without_answers_are_refused_before_anything_runs(open_site, pulled, preset, word):
    site = open_site(pulled)
    run = {"task_id": "lamps", "code": "print x", "preset": preset}
    status, body, _ = site.ask("POST", "/v1/scores", {"runs": [run]})
    assert (status, word in body["detail"]) == (422, True)
    assert site.box.runs == []


def test_a_fault_of_the_server_is_masked(site, folder):
    (one,) = site.ask("POST", "/v1/scores", {"runs": [{"task_id": folder.name, "code": "crash"}]})[1]["scores"]
    assert (one["score"]["outcome"], one["score"]["mask"], one["score"]["reward"]) == ("infra_error", True, 0.0)


def test_a_submission_that_breaks_the_grader_is_invalid_and_not_masked(site, folder, monkeypatch):
    def fail_in_threads(private, result, preset):
        if threading.current_thread().name.startswith("sandmill-serve"):
            raise MemoryError
        return sandmill.score(private, result, preset)

    monkeypatch.setattr("sandmill.serve.runs.score", fail_in_threads)
    (one,) = site.ask("POST", "/v1/scores", {"runs": [{"task_id": folder.name, "code": "print x"}]})[1]["scores"]
    assert (one["score"]["outcome"], one["score"]["mask"]) == ("invalid_submission", False)
    assert one["score"]["problems"] == ["grading failed: MemoryError"]


def test_a_task_of_a_release_is_pulled_at_its_first_use(site, release):
    cache = site.service.tasks
    assert len(cache) == 3
    first, second, _ = load(release).task_ids
    assert site.run({"task_id": second, "code": "list"})[0]["outcome"] == "no_submission"
    assert cache._opened.cache_info().currsize == 1
    assert cache.problem(first) is None
