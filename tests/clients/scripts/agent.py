"""What the scripted agents of several clients share. It runs in the environments of clients: sandmill and no pytest."""

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import sandmill
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits, RunResult
from sandmill.play import task

_CLIENT = Path(sys.argv[0]).stem.removeprefix("check_")
release = sandmill.load(sys.argv[1])
os.environ["SANDMILL_AGENT_ENV"] = sys.argv[2]

SEARCH = """
import os
for name in ("/proc/self/environ", "/proc/self/cmdline", "/proc/1/environ", "/proc/1/cmdline"):
    try:
        print(open(name, "rb").read())
    except OSError as error:
        print(error)
for place in (os.getcwd(), os.path.expanduser("~"), "/tmp", "/dev/shm", "/home", "/root", "/work"):
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or "public" in path:
                continue
            print(path)
            try:
                print(open(path, "rb").read(20_000))
            except OSError as error:
                print(error)
"""
"""Script that prints what the process of the agent's code can see, except the public files."""


def reference(task_id: str) -> str:
    """Return the reference solution, which earns a reward."""
    return release.files("private", task_id)["solution.py"].decode()


def documented(language: str, number: int = 0) -> str:
    """Return a code block of docs/adapters.md that names this client, with the release under test."""
    text = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text()
    section = next(part for part in text.split("\n## ") if part.lower().startswith(_CLIENT))
    blocks = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(blocks[number]).replace("releases/micro", release.ref)


def task_of(prompt: str) -> str:
    """Return the id of the task with this prompt."""
    return next(name for name in release.task_ids if release.prompt(name).strip() in prompt)


def moves(task_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls of an agent that looks around, solves the task, and makes two mistakes."""
    return [
        ("run_code", {"code": SEARCH}),
        ("run_code", {"code": reference(task_id)}),
        ("submit", {}),
        ("finish", {"step": 9}),
        ("no_such_tool", {}),
        ("finish", {}),
    ]


def leaks(contents: Iterable[bytes]) -> list[str]:
    """Return lines of the private half that occur in some of the contents: answers with their part, leaderboards."""
    # In JSON, the end of a line is a backslash and an n.
    texts, answers, found = re.sub(rb"\\+n", b"\n", b"\n".join(contents)), {}, []
    for task_id in release.task_ids:
        files = release.files("private", task_id)
        answers |= {row.partition(b",")[0]: row for row in files["answers.csv"].splitlines()[1:]}
        found += [row.decode() for row in files["leaderboard.csv"].splitlines() if row in texts]
    # One search over the texts: they hold megabytes, and there are thousands of answers.
    for match in re.finditer(rb"[\w.-]+(?=,)", texts):
        row = answers.get(match[0])
        if row is not None and texts.startswith(row, match.start()):
            found.append(row.decode())
    return found


def files_under(folder: Path) -> list[bytes]:
    """Return the contents of all files of a folder."""
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


class BrokenSandbox:
    """A sandbox that fails before the agent's code starts."""

    limits = RunLimits()
    box = None

    async def run(self, code: str, **_: Any) -> RunResult:
        return RunResult(outcome=Outcome.INFRA_ERROR, isolation=Isolation.NONE, detail="no space for a process")


def break_sandbox() -> None:
    """Let every later episode of this process use a broken sandbox."""
    task.shared_sandbox = BrokenSandbox
