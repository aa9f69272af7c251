"""What the exports for benchmarks share: public files without texts, and plain descriptions."""

from collections.abc import Iterator, Mapping

from sandmill.export.base import ExportTask
from sandmill.models.layout import SUBMISSION, public_path, section_of
from sandmill.models.texts import DESCRIPTION


def within(folder: str, files: Mapping[str, bytes | str]) -> Iterator[tuple[str, bytes]]:
    """Yield files below a folder, sorted by path."""
    for path, content in sorted(files.items()):
        yield f"{folder}/{path}", content.encode() if isinstance(content, str) else content


def data_files(task: ExportTask) -> dict[str, bytes | str]:
    """Return the public files except the texts, which stand in the description of the export."""
    return {path: content for path, content in task.files_of_runs.items() if path != DESCRIPTION}


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
