"""The job API, called as SandMLE's trainer calls it: with httpx, and the token in the address."""

import time
from pathlib import Path

import httpx
import pytest

from tests.servers import TOKEN, Site

PAYLOAD = {
    "time": "02:00:00",
    "cpus": 8,
    "mem": "32G",
    "gres_gpus": "gpu:1",
    "conda_env": "sandmle",
    "pre_cmds": None,
    "job_name": "deepresearch_api_job",
    "timeout": 0,
}
"""What the released trainer sends beside the path of the script."""


class Trainer:
    """Writes scripts into the folder of one trajectory, submits them, and polls, as the trainer's tool does."""

    def __init__(self, site: Site, output: Path, run: str = "lamps/20260101-000000") -> None:
        self.folder = output / run
        self.folder.mkdir(parents=True)
        self.number = 0
        address = f"http://sandmill:{TOKEN}@127.0.0.1:{site.port}"
        self.client = httpx.Client(base_url=address, timeout=30, trust_env=False)

    def submit(self, code: str, **changes: object) -> httpx.Response:
        self.number += 1
        script = self.folder / f"main_{self.number}.py"
        script.write_text(code)
        return self.client.post("/run", json=PAYLOAD | {"script_path": str(script)} | changes)

    def finish(self, job: dict[str, str]) -> tuple[dict, dict]:
        for _ in range(500):
            status = self.client.get(f"/status/{job['job_id']}").json()
            if status["state"] not in ("RUNNING", "PENDING"):
                return status, self.client.get(f"/logs/{job['job_id']}", params={"tail_lines": 200}).json()
            time.sleep(0.02)
        raise AssertionError("the job does not end")

    def step(self, code: str) -> tuple[dict, dict]:
        answer = self.submit(code)
        assert answer.status_code == 200, answer.text
        return self.finish(answer.json())


@pytest.fixture
def output(tmp_path) -> Path:
    folder = tmp_path / "output"
    folder.mkdir()
    return folder


@pytest.fixture
def site(open_site, pulled, output) -> Site:
    return open_site(pulled, srun_root=output, timeout_s=9.0)


@pytest.fixture
def trainer(site, output) -> Trainer:
    return Trainer(site, output)


def test_a_job_runs_and_its_submission_lies_beside_the_script(trainer, site):
    answer = trainer.submit("print hello\nsubmit id,x\\n")
    job = answer.json()
    assert (job["workdir"], job["stdout"]) == (str(trainer.folder), str(trainer.folder / "main_1.out"))
    status, logs = trainer.finish(job)
    assert (status["state"], status["returncode"], status["timed_out"]) == ("COMPLETED", 0, False)
    assert (logs["stdout_tail"], logs["stderr_tail"]) == ("hello", "")
    assert (trainer.folder / "submission.csv").read_text() == "id,x\n"
    assert site.box.runs[0]["timeout"] == 9.0
    assert sorted(path.name for path in trainer.folder.iterdir()) == ["main_1.py", "submission.csv"]


def test_a_run_without_a_submission_leaves_the_earlier_one(trainer):
    trainer.step("submit first")
    status, logs = trainer.step("print again")
    assert (status["returncode"], logs["stdout_tail"]) == (0, "again")
    assert (trainer.folder / "submission.csv").read_text() == "first"


def test_steps_of_one_trajectory_share_their_files_and_no_others(trainer, site, output):
    trainer.step("write a.txt 1")
    assert trainer.step("list")[1]["stdout_tail"] == "a.txt"
    assert Trainer(site, output, "lamps/20260101-000001").step("list")[1]["stdout_tail"] == ""


def test_a_fault_of_the_server_is_told_in_the_output(trainer):
    status, logs = trainer.step("crash")
    assert status["returncode"] == 1
    assert logs["stderr_tail"] == "sandmill: infra_error: the server failed: RuntimeError"


def test_only_the_last_lines_are_sent(trainer):
    job = trainer.submit("\n".join(f"print {number}" for number in range(300))).json()
    trainer.finish(job)
    tail = trainer.client.get(f"/logs/{job['job_id']}", params={"tail_lines": 2}).json()["stdout_tail"]
    assert tail == "298\n299"
    assert trainer.client.get(f"/logs/{job['job_id']}", params={"tail_lines": 0}).json()["stdout_tail"] == ""


def test_a_cancelled_job_ends_and_the_next_step_runs(trainer, site):
    job = trainer.submit("sleep 60").json()
    assert trainer.client.get(f"/status/{job['job_id']}").json()["state"] in ("PENDING", "RUNNING")
    answer = trainer.client.post(f"/cancel/{job['job_id']}").json()
    assert answer["cancelled"] is True
    assert trainer.finish(job)[0]["returncode"] == 1
    assert trainer.client.post(f"/cancel/{job['job_id']}").json()["reason"] == "already finished"
    assert trainer.step("print next")[1]["stdout_tail"] == "next"


@pytest.mark.parametrize("where", ["/status/", "/logs/"])
def test_an_unknown_job_is_not_found(trainer, where):
    answer = trainer.client.get(f"{where}nothing")
    assert (answer.status_code, answer.json()["detail"]) == (404, "job not found")


def test_paths_of_the_trainers_machine_become_those_of_the_sandbox(trainer, site):
    code = "print /data/mle-syn/lamps/prepared/public/train.csv\nprint '/a/lamps/prepared' /b/lamps/prepared2 lamps"
    trainer.step(code)
    assert site.box.runs[0]["code"] == "print ./public/train.csv\nprint '.' /b/lamps/prepared2 lamps"


def test_a_script_outside_of_the_shared_folder_is_refused(trainer, tmp_path, site):
    outside = tmp_path / "secret.py"
    outside.write_text("print secret")
    inside = trainer.folder / "link.py"
    inside.symlink_to(outside)
    for path in (outside, inside, trainer.folder / "../../../secret.py"):
        answer = trainer.client.post("/run", json=PAYLOAD | {"script_path": str(path)})
        assert answer.status_code == 400
        assert "lies outside of" in answer.json()["detail"]
    assert site.box.runs == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"script_path": "/nothing.py"}, "script not found"),
        ({"script_path": "a\0b"}, "script not found"),
        ({"pre_cmds": "rm -rf /"}, "no shell commands"),
        ({"command": "ls"}, "expected fields"),
        ({"timeout": -1}, "expected fields"),
    ],
)
def test_a_wrong_request_is_refused(trainer, site, changes, problem):
    answer = trainer.submit("print x", **changes)
    assert answer.status_code in (400, 422)
    assert problem in answer.json()["detail"]
    assert site.box.runs == []


def test_a_script_of_an_unknown_task_or_a_folder_is_refused(site, output):
    other = Trainer(site, output, "unknown/20260101-000000")
    answer = other.submit("print x")
    assert (answer.status_code, "saw the task id 'unknown'" in answer.json()["detail"]) == (400, True)
    answer = other.client.post("/run", json=PAYLOAD | {"script_path": str(other.folder.parent)})
    assert answer.status_code == 400
    folder = output / "lamps" / "folder.py"
    folder.mkdir(parents=True)
    answer = other.client.post("/run", json=PAYLOAD | {"script_path": str(folder)})
    assert (answer.status_code, "cannot be read as a file" in answer.json()["detail"]) == (400, True)


def test_the_timeout_of_a_request_is_bounded_by_the_servers(trainer, site):
    trainer.finish(trainer.submit("print a", timeout=3).json())
    trainer.finish(trainer.submit("print b", timeout=300).json())
    assert [one["timeout"] for one in site.box.runs] == [3.0, 9.0]


def test_without_a_shared_folder_there_is_no_job_api(open_site, pulled):
    assert open_site(pulled).ask("POST", "/run", PAYLOAD | {"script_path": "x"})[0] == 404
