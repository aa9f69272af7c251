"""Build the prompt of a task: its description, how code runs, and the limits that the sandbox enforces."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypedDict

from sandmill.errors import InputError, Problem
from sandmill.models.hints import DATA_DICTIONARY
from sandmill.models.layout import COMMAND, PUBLIC, SUBMISSION
from sandmill.models.run import RunLimits, timeout_problem
from sandmill.models.texts import DESCRIPTION, prompt_text
from sandmill.sandbox.agent_env import find_agent_env, offered_libraries

_MAX_DESCRIPTION_BYTES = 1 << 20
_RUNS = (
    f"Each step runs one script in a new process, as `{COMMAND}`, in a working directory that holds the folder "
    f"`{PUBLIC}`. Variables are lost between steps. Files that a step writes into the working directory are there "
    f"again in the next step; `{PUBLIC}` is read-only, and there is no network.\n\n"
    f"A step has a submission if its script exits without an error and has itself written `{SUBMISSION}`, as a "
    "regular file. A step that fails has none, whatever files it or earlier steps left."
)
_FEEDBACK = (
    "At most {number} scored before the end. Feedback scores are rounded, and come from a part of the test rows "
    "that the final score leaves out. A score that is no better than that of a constant prediction is not shown."
)
HOW_TO_ANSWER = """\
## How to answer

Answer with one complete Python script, in a code block that starts with ```python. If there are several, the last \
one runs.
"""
_PLACE_VARIABLES = ("SANDMILL_AGENT_ENV", "XDG_CACHE_HOME", "HOME")
"""Environment variables that decide where the agent environment is."""
_LISTED: dict[tuple[str | None, ...], str] = {}
"""Libraries by the values of these variables. Reading the environment for each prompt of a large release is slow."""
PromptForm = Literal["description", "text", "chat"]
_PULL_HINT = "Pull it with: sandmill pull RELEASE --to DIR"


class ChatMessage(TypedDict):
    """One message of a chat."""

    role: str
    content: str


def prompt(
    task: Path | str, *, timeout: float = 30.0, limits: RunLimits | None = None, submissions: int | None = None
) -> str:
    """Return the prompt for the start of an episode.

    Pass the values that you pass to `Sandbox` and `Feedback`, so that the text states the real limits.

    Args:
        task: folder of a pulled task; its public half is enough.
        timeout: wall time of one run in seconds, as passed to `Sandbox.run`.
        limits: as passed to `Sandbox`. None means the defaults.
        submissions: number of submissions that are scored during the episode, as passed to `Feedback`. With None the
            prompt does not mention feedback.

    Raises:
        InputError: if the folder holds no description, or if a number is out of range.
    """
    return build_prompt(read_description(Path(task)), timeout=timeout, limits=limits, submissions=submissions)


def build_prompt(
    description: str, *, timeout: float = 30.0, limits: RunLimits | None = None, submissions: int | None = None
) -> str:
    """Return the prompt for a description; the other arguments and errors are those of `prompt`."""
    problems = [problem for problem in (timeout_problem(timeout),) if problem]
    if submissions is not None and submissions < 1:
        problems.append(Problem("submissions", str(submissions), "a whole number from 1 up, or None"))
    if problems:
        raise InputError("prompt", problems, "")
    table, libraries = _list_limits(timeout, limits or RunLimits()), f"Libraries: {_list_libraries()}."
    sections = [description.rstrip("\n"), "## How code runs", _RUNS, table, libraries]
    if submissions is not None:
        number = f"{submissions} submissions are" if submissions > 1 else "1 submission is"
        sections += ["## Feedback", _FEEDBACK.format(number=number)]
    return "\n\n".join(sections) + "\n"


def read_description(task: Path) -> str:
    """Return the description of a pulled task, and its data dictionary where that is no file for scripts.

    Raises `InputError` if the folder holds none.
    """
    # Imported here because the grader loads numpy, which `import sandmill` and `sandmill.prompt` must not do.
    from sandmill.scoring.grading.private_half import read_pulled_file

    names = [DESCRIPTION, *([DATA_DICTIONARY] if os.path.lexists(task / PUBLIC / DATA_DICTIONARY) else [])]
    texts = {name: read_pulled_file(task, PUBLIC, name, _MAX_DESCRIPTION_BYTES, _PULL_HINT) for name in names}
    try:
        return prompt_text(texts)
    except UnicodeDecodeError:
        problem = Problem(f"{PUBLIC}/{DESCRIPTION}", "bytes that are not UTF-8", "a pulled task", _PULL_HINT)
        raise InputError(str(task), [problem], "") from None


@lru_cache(maxsize=64)
def _list_limits(timeout: float, limits: RunLimits) -> str:
    rows = {
        "wall time": f"{timeout:g} s",
        "processor time of one process": f"{limits.cpu_seconds(timeout)} s",
        "processor cores": "all that the machine offers" if limits.cores is None else str(limits.cores),
        "memory of all processes together": f"{limits.memory_mb} MB",
        "processes and threads": str(limits.processes),
        "open files of one process": str(limits.open_files),
        "all written files together": f"{limits.disk_mb} MB, {limits.inodes} files and folders",
        "one written file": f"{limits.file_mb} MB",
        f"`{SUBMISSION}`": f"{limits.submission_mb} MB, and at most about four times what its rows need",
        "standard output and standard error": f"the last {limits.output_kb} KB of each are kept",
    }
    return "| limit of a step | value |\n|---|---|\n" + "\n".join(f"| {name} | {row} |" for name, row in rows.items())


def _list_libraries() -> str:
    """Return the importable libraries with their versions. These are pinned, so they are equal on all machines."""
    place = tuple(map(os.environ.get, _PLACE_VARIABLES))
    if place not in _LISTED:
        env = find_agent_env()
        listed = ", ".join(f"{name} {version}" for name, version in offered_libraries(env).items())
        if env is None:
            return listed  # an environment that is created later may have torch
        _LISTED[place] = listed
    return _LISTED[place]
