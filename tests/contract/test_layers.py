import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.releases import REPOSITORY

MODULES = sorted(
    path for folder in ("src", "flows", "tasks", "learn/src") for path in (REPOSITORY / folder).rglob("*.py")
)
LINTER = Path(sys.executable).parent / "lint-imports"


def _lint(folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(("src", "learn/src", "."))}
    command = [str(LINTER), "--no-cache"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("src", "flows", "tasks", "learn/src"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_run_downwards_only():
    ran = _lint(REPOSITORY)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " 0 broken" in ran.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("src/sandmill/errors.py", "import prefect"),
        pytest.param("src/sandmill/llm/cache.py", "from sandmill.store.files import Store", marks=pytest.mark.slow),
        pytest.param(
            "src/sandmill/pipeline/plan.py", "from sandmill.cli.ending import show_ending", marks=pytest.mark.slow
        ),
        pytest.param("tasks/building.py", "from flows.build_release import build_release", marks=pytest.mark.slow),
        pytest.param("src/sandmill/cli/app.py", "import sandmill_learn.training", marks=pytest.mark.slow),
    ],
)
def test_a_forbidden_import_is_found(copy, module, line):
    path = copy / module
    path.write_text(f"{path.read_text()}\n\ndef _late():\n    {line}\n")
    ran = _lint(copy)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert " 1 broken" in ran.stdout


def test_every_package_of_the_library_has_a_floor():
    configured = (REPOSITORY / "pyproject.toml").read_text()
    library = REPOSITORY / "src" / "sandmill"
    names = {path.stem for path in library.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    floorless = [name for name in names - {"__init__"} if f"sandmill.{name}" not in configured]
    assert floorless == []


def test_a_flow_reads_like_a_table_of_contents():
    lengths = {path.name: len(path.read_text().splitlines()) for path in (REPOSITORY / "flows").glob("*.py")}
    assert {name: length for name, length in lengths.items() if length > 80} == {}


def test_no_module_is_too_long_to_read():
    lengths = {path.relative_to(REPOSITORY): len(path.read_text().splitlines()) for path in MODULES}
    assert {str(path): length for path, length in lengths.items() if length > 600} == {}


def test_prefect_is_imported_in_flows_and_tasks_alone():
    texts = {path: text for path in MODULES if "import prefect" in (text := path.read_text()) or "from prefect" in text}
    importing = [path for path, text in texts.items() if "prefect" in _imported(ast.parse(text))]
    assert importing
    assert [path for path in importing if path.is_relative_to(REPOSITORY / "src")] == []


def test_a_prefect_task_is_a_policy_around_one_call():
    lengths = {
        f"{path.name}:{task.name}": sum(isinstance(node, ast.stmt) for node in ast.walk(task)) - 2
        for path in (REPOSITORY / "tasks").glob("*.py")
        for task in _prefect_tasks(ast.parse(path.read_text()))
    }  # less the function itself and its docstring
    assert lengths
    assert {name: length for name, length in lengths.items() if length > 10} == {}


def _imported(tree: ast.Module) -> set[str]:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def _prefect_tasks(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            _name_of(decorator) == "task" for decorator in node.decorator_list
        ):
            yield node


def _name_of(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""
