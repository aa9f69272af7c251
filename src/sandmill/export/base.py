"""What an export reads and what it returns. The formats are listed in `FORMATS`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sandmill.models.layout import SUBMISSION, public_path, section_of
from sandmill.models.release import Manifest, TaskRecord
from sandmill.models.texts import DESCRIPTION, files_of_runs, prompt_text


@dataclass(frozen=True)
class ExportTask:
    """One task with both halves.

    Its id consists of lower-case letters and digits, so it is a valid name in every format.
    """

    record: TaskRecord
    public: Mapping[str, bytes]
    """Content of each public file by its path, with the texts."""
    private: Mapping[str, bytes]
    """Content of each private file by its path: answers.csv, task.json, leaderboard.csv and the scripts."""

    @property
    def task_id(self) -> str:
        """Public name of the task."""
        return self.record.task_id

    @property
    def description(self) -> str:
        """Texts of the task for the agent."""
        return prompt_text(self.public)

    @property
    def files_of_runs(self) -> Mapping[str, bytes]:
        """Public files that the agent's scripts read: none of the texts, where they stand in the prompt."""
        return files_of_runs(self.public)

    @property
    def data_files(self) -> dict[str, bytes | str]:
        """Public files except the texts, for exports whose description has these."""
        return {path: content for path, content in self.files_of_runs.items() if path != DESCRIPTION}

    @property
    def plain_description(self) -> str:
        """Return the description for exports that do not run in the sandbox.

        Files have no folder, the section on our environment is left out, and no sentence names a working directory.
        """
        sections = self.description.split("\n\n## ")
        text = "\n\n## ".join(part for part in sections if section_of(part.partition("\n")[0]) != "environment")
        folders = {path[: place + 1] for path in self.public for place, char in enumerate(path) if char == "/"}
        for name in {*self.public, *folders}:
            text = text.replace(f"`{public_path(name)}`", f"`{name}`")
        return text.replace(f"`{SUBMISSION}` into the working directory", f"`{SUBMISSION}`")


def within(folder: str, files: Mapping[str, bytes | str]) -> Iterator[tuple[str, bytes]]:
    """Yield files below a folder, sorted by path."""
    for path, content in sorted(files.items()):
        yield f"{folder}/{path}", content.encode() if isinstance(content, str) else content


def template(name: str) -> str:
    """Return a text that exports carry, from the folder `templates`. Those of programs end in `.txt`."""
    return (files("sandmill.export") / "templates" / name).read_text(encoding="utf-8")


def readme(name: str, manifest: Manifest, **facts: Any) -> tuple[str, bytes]:
    """Return README.md of an export from a template that names dataset and version."""
    text = template(name).format(dataset=manifest.dataset, version=manifest.version, **facts)
    return "README.md", text.encode()


Export = Callable[[Iterable[ExportTask], Manifest], Iterator[tuple[str, bytes]]]
"""Yields the relative path and the content of each file. Each task is in memory only while it is written.

Exports name dataset and version of the manifest. Files depend on the release alone: no time, no absolute path, no order
of a set.
"""

FORMATS: Mapping[str, str] = {
    "harbor": "sandmill.export.harbor:export",
    "mlebench": "sandmill.export.mlebench:export",
    "nemo-gym": "sandmill.export.harbor:nemo_gym",
    "rllm": "sandmill.export.rows:rllm",
    "sandmle": "sandmill.export.sandmle:export",
    "sft": "sandmill.export.sft:export",
    "skyrl": "sandmill.export.rows:skyrl",
    "verl": "sandmill.export.rows:verl",
}
"""Module and function of each format, imported when it is used."""

TEXT_VISIBLE = frozenset({"mlebench", "sandmle"})
"""Formats whose harness puts the description among the files, where scripts can search it for facts."""
