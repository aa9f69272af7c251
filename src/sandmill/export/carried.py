"""Parts that the exports for benchmarks share: files, descriptions, the grader as a module, a perfect submission."""

import csv
import io
from collections.abc import Iterator, Mapping

from sandmill.errors import InputError, Problem, name_some, require_extra
from sandmill.export.base import ExportTask, template
from sandmill.export.grader import grader_source
from sandmill.models.layout import SUBMISSION, public_path, section_of
from sandmill.models.texts import DESCRIPTION

ANSWERS = "answers.csv"
PREPARE = template("prepare.txt")
"""prepare.py. mle-bench imports it when it loads a task."""


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


def grader_module(task: ExportTask) -> str:
    """Return the grader of a task without its command line, so that other code can follow."""
    return grader_source(task).partition('\n\nif __name__ == "__main__":')[0].rstrip() + "\n"


def score_text(score: float) -> str:
    """Return a score of a leaderboard as text with its 5 decimals."""
    return format(score, ".5f")


def check_names(task: ExportTask) -> None:
    """Check that pandas keeps ids, class names and true texts: mle-bench reads all files with it.

    Raises `InputError` if pandas would read a name as a missing value, a boolean or another number.
    """
    facts = task.record.facts
    rows = list(csv.DictReader(io.StringIO(task.private[ANSWERS].decode(), newline="")))
    ids = [row[facts.id_column] for row in rows]
    changed = [name for name in facts.classes if _read_by_pandas([name]) != [name]]
    texts = [row[facts.target_column] for row in rows] if facts.encoding == "strings" else []
    for cells in (ids, texts):
        changed += [old for old, new in zip(cells, _read_by_pandas(cells), strict=True) if old != new]
    if changed:
        hint = "Leave the task out: name the others with --task."
        expected = "class names, ids and texts that pandas does not take for numbers, booleans or missing values"
        problem = Problem(f"task {task.task_id}", name_some(changed), expected, hint)
        raise InputError("export", [problem], "Nothing was written.")


def _read_by_pandas(cells: list[str]) -> list[str]:
    with require_extra("rerun", "export"):
        import pandas as pd

    text = io.StringIO(newline="")
    csv.writer(text).writerows([cell] for cell in ("name", *cells))
    text.seek(0)
    return [str(cell) for cell in pd.read_csv(text)["name"].tolist()]


def perfect_submission(task: ExportTask) -> str:
    """Return the true answers in the form of a submission."""
    facts = task.record.facts
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([facts.id_column, *facts.submission_columns])
    for row in csv.DictReader(io.StringIO(task.private[ANSWERS].decode(), newline="")):
        if facts.encoding == "class_probabilities":
            cells = [str(int(row[facts.target_column] == name)) for name in facts.submission_columns]
        else:
            cells = [row[name] for name in facts.target_columns]
        writer.writerow([row[facts.id_column], *cells])
    return sink.getvalue()
