"""Harbor's own package loads every exported task, computes the same digests, and its linter finds nothing."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandmill.export.harbor import image_name
from sandmill.sandbox.agent_env import find_agent_env
from tests.unit.export.test_harbor import verify


@pytest.fixture(scope="module")
def seen(run_client: Callable[..., Any], exported: Callable[[str], Path]) -> dict[str, Any]:
    return run_client("harbor", "check_harbor.py", exported("harbor"))


def test_harbor_loads_every_task(seen, exported):
    places = sorted(path for path in (exported("harbor") / "tasks").iterdir() if path.is_dir())
    assert [task["name"] for task in seen["tasks"]] == [f"sandmill/{path.name}" for path in places]
    for task, place in zip(seen["tasks"], places, strict=True):
        assert (task["schema"], task["is_valid"]) == ("1.4", True)
        assert task["instruction"] == (place / "instruction.md").read_text()
        assert task["artifacts"] == ["/workdir/submission.csv"]
        assert task["networks"] == ["no-network", "no-network"]
        assert task["difficulty"] in ("easy", "medium", "hard")


def test_the_verifier_has_a_container_of_its_own_which_alone_gets_the_tests(seen):
    for task in seen["tasks"]:
        assert not task["is_shared"]
        assert task["uploads_tests"]
        assert task["verifier_script"] == "test.sh"


def test_all_tasks_share_one_image_and_their_files_are_uploaded(seen):
    assert {tuple(task["images"]) for task in seen["tasks"]} == {(image_name(), image_name())}
    assert all(task["uploads_public"] for task in seen["tasks"])


def test_digests_and_registry_are_those_of_harbor(seen):
    assert all(task["digest_agrees"] for task in seen["tasks"])
    assert seen["registered"] == [f"tasks/{task['name'].partition('/')[2]}" for task in seen["tasks"]]
    assert seen["dataset"][0] == "sandmill/small"


def test_the_linter_finds_nothing_and_with_all_rules_misses_only_digests_of_images(seen):
    assert seen["lint"] == [0, [], ""]
    assert seen["strict"] == ["unpinned-image"]


def test_harbor_finds_the_task_of_every_row_for_nemo_gym(run_client, exported):
    folder = exported("nemo-gym")
    rows = sorted((folder / "data").glob("*.jsonl"))
    seen = run_client("harbor", "check_harbor.py", folder, *rows)
    names = [json.loads(line)["task_name"] for path in rows for line in path.read_text().splitlines()]
    assert seen["rows_found"] == [[name] for name in names]
    assert len(names) == 2


def test_the_reference_solution_earns_the_reward_that_the_task_states(exported, tmp_path, seen):
    import tomllib

    for place in sorted(path for path in (exported("harbor") / "tasks").iterdir() if path.is_dir()):
        box = tmp_path / place.name
        (box / "workdir").mkdir(parents=True)
        (box / "workdir" / "public").symlink_to(place / "environment" / "public")
        env = find_agent_env()
        assert env is not None
        script = (place / "solution" / "solve.sh").read_text().replace("/workdir", f"{box}/workdir")
        script = script.replace("exec python /solution", f"exec {env.python} {place}/solution")
        subprocess.run(["sh", "-c", script], check=True, env={"PATH": "/usr/bin:/bin"}, timeout=120)
        submission = (box / "workdir" / "submission.csv").read_bytes()
        logs = verify(place, box, submission)
        reward = json.loads((logs / "reward.json").read_text())
        stated = tomllib.loads((place / "task.toml").read_text())["metadata"]["sandmill"]["reference_reward"]
        assert (reward["reward"], reward["medal"]) == (pytest.approx(stated, abs=1e-4), 1)
