import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def trainer(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine that only trains: the wheel in an environment of its own, in a folder without the repository."""
    folder = tmp_path_factory.mktemp("trainer")
    python = folder / "venv" / "bin" / "python"
    if uv := shutil.which("uv"):
        _check([uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], folder)
    else:
        _check([sys.executable, "-m", "venv", str(folder / "venv")], folder)
    _install(python, str(wheel), folder)
    return folder


def _install(python: Path, what: str, folder: Path) -> None:
    pinned = ["-c", str(REPOSITORY / "constraints.txt"), what]
    if uv := shutil.which("uv"):
        _check([uv, "pip", "install", "--quiet", "--python", str(python), *pinned], folder)
    else:
        _check([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned], folder)


def _check(command: list[str], folder: Path) -> str:
    unwanted = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def _sandmill(trainer: Path, *arguments: object) -> str:
    return _check([str(trainer / "venv" / "bin" / "sandmill"), *map(str, arguments)], trainer)


def test_the_library_is_the_wheels_and_nothing_of_the_pipeline_can_be_imported(trainer):
    code = (
        "import sandmill, importlib.util as u, json;"
        "names = ['prefect', 'great_expectations', 'fastapi', 'flows', 'tasks', 'tests', 'pytest'];"
        "names += ['pandas', 'duckdb', 's3fs', 'fsspec', 'botocore'];"
        "print(json.dumps([sandmill.__file__, sandmill.__version__, [n for n in names if u.find_spec(n)]]))"
    )
    file, version, found = json.loads(_check([str(trainer / "venv" / "bin" / "python"), "-c", code], trainer))
    assert Path(file).is_relative_to(trainer / "venv")
    assert version
    assert found == []


def test_the_doctor_finds_the_machine_ready_without_the_pipeline(trainer):
    assert json.loads(_sandmill(trainer, "doctor", "--json"))["ready"] is True


def test_a_release_is_pulled_graded_and_checked(trainer, small_release):
    _sandmill(trainer, "pull", small_release, "--to", "pulled")
    for folder in (trainer / "pulled").iterdir():
        grade = json.loads(_sandmill(trainer, "grade", folder, folder / "public" / "sample_submission.csv"))
        assert (grade["outcome"], grade["medal"]) == ("ok", None)
    assert "all holds" in _sandmill(trainer, "verify", small_release)


def test_a_task_is_prompted_and_played_as_the_readme_says(trainer, small_release):
    code = f"""
import sandmill
release = sandmill.load({small_release!r})
task = release.task(release.select()[0])
assert task.prompt()
result = task.run("import shutil; shutil.copy('public/sample_submission.csv', 'submission.csv')")
print(task.grade(result).outcome)
"""
    assert _check([str(trainer / "venv" / "bin" / "python"), "-c", code], trainer).strip() == "ok"


def test_a_release_is_proved_again_with_the_extra_for_it(trainer, wheel, small_release):
    _install(trainer / "venv" / "bin" / "python", f"{wheel}[rerun]", trainer)
    assert "all holds, 2 tasks ran again" in _sandmill(trainer, "verify", small_release, "--rerun")


def test_the_samples_are_played_without_a_clone_a_build_or_an_agent_environment(trainer):
    code = """
import sandmill
release = sandmill.load("samples", backend="local")
with sandmill.SyncMLEnv(release.task(release.task_ids[0])) as env:
    env.reset()
    env.step(sandmill.Act.run("import shutil; shutil.copy('public/sample_submission.csv', 'submission.csv')"))
    env.step(sandmill.Act.finish())
print(env.rollout.grade.outcome, env.rollout.isolation)
"""
    assert _check([str(trainer / "venv" / "bin" / "python"), "-c", code], trainer).split() == ["ok", "none"]
