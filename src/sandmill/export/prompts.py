"""Texts of an export: the prompt for trainers that use our sandbox, and the description for other environments."""

from sandmill.export.base import ExportTask
from sandmill.models.layout import COMMAND, PUBLIC, SUBMISSION, public_path, section_of

_HOW_CODE_RUNS = f"""\
## How code runs

The script runs in a new process, as `{COMMAND}`, in a working directory that holds the read-only folder `{PUBLIC}`. \
There is no network. The submission counts if the script exits without an error and has itself written \
`{SUBMISSION}`, as a regular file.

## How to answer

Answer with one complete Python script, in a code block that starts with ```python. If there are several, the last \
one runs.
"""


def chat_prompt(task: ExportTask) -> str:
    """Return the user message of an episode in our sandbox: the description, how code runs, how to answer."""
    return f"{task.description.rstrip()}\n\n{_HOW_CODE_RUNS}"


def plain_description(task: ExportTask) -> str:
    """Return the description for an environment that is not our sandbox.

    Files have no folder, the section on our environment is left out, and no sentence names a working directory.
    """
    sections = task.description.split("\n\n## ")
    text = "\n\n## ".join(part for part in sections if section_of(part.partition("\n")[0]) != "environment")
    folders = {path[: place + 1] for path in task.public for place, char in enumerate(path) if char == "/"}
    for name in {*task.public, *folders}:
        text = text.replace(f"`{public_path(name)}`", f"`{name}`")
    return text.replace(f"`{SUBMISSION}` into the working directory", f"`{SUBMISSION}`")
