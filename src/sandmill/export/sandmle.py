"""Folders of SandMLE: `<id>/prepared/public` with `evaluator.py`, and the two lists of task ids that its scripts read.

By default the answers are not in the export: `evaluator.py` asks a server of `sandmill serve`. The layout of the
original project, in which agents can read `answer.csv`, is written on request only.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import chain

from sandmill.export import carried
from sandmill.export.base import ExportSettings, ExportTask
from sandmill.models.texts import DESCRIPTION

TRAIN_LIST = "ok_competitions_sanity.json"
"""Ids for training. SandMLE's script validates on the first 64 of them in alphabetical order."""
HELD_BACK_LIST = "ok_competitions_sanity_random_64.json"
"""Ids for evaluation: of the split validation, then of the held-out splits."""
_HELD_BACK = 64

_DOCSTRING = "Grade a submission. Usage: python evaluator.py --submission_path PATH"
_ASK = """\
if __name__ == "__main__":
    evaluate(lambda path: grade_by_server(path, "{task_id}"))
"""
_GRADE = """\
if __name__ == "__main__":
    evaluate(lambda path: grade(path, os.path.join(os.path.dirname(os.path.abspath(__file__)), "answer.csv")))
"""


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the public folder of each task, and the two lists of ids."""
    by_split: dict[str, list[str]] = {}
    for task in tasks:
        by_split.setdefault(task.record.split, []).append(task.task_id)
        yield from carried.within(f"{task.task_id}/prepared/public", _public(task, settings.is_insecure))
    train = sorted(by_split.pop("train", []))
    held_back = [*sorted(by_split.pop("validation", [])), *sorted(chain(*by_split.values()))]
    yield TRAIN_LIST, _listed(train)
    yield HELD_BACK_LIST, _listed(sorted(held_back[:_HELD_BACK]))


def _public(task: ExportTask, is_insecure: bool) -> dict[str, bytes | str]:
    shared = {**carried.data_files(task), DESCRIPTION: carried.plain_description(task)}
    if is_insecure:
        evaluator = carried.join_modules(_DOCSTRING, carried.grader_module(task), _part("command"), _GRADE)
        return {**shared, "evaluator.py": evaluator, "answer.csv": task.private[carried.ANSWERS]}
    evaluator = carried.join_modules(_DOCSTRING, _part("command"), _part("server"), _ASK.format(task_id=task.task_id))
    return {**shared, "evaluator.py": evaluator}


@cache
def _part(name: str) -> str:
    return (files("sandmill.export") / f"evaluator_{name}.py").read_text(encoding="utf-8")


def _listed(ids: list[str]) -> bytes:
    return (json.dumps(ids, indent=1) + "\n").encode()
