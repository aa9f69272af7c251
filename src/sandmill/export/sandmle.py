"""Folders of SandMLE: `<id>/prepared/public` with `evaluator.py`, and the two lists of task ids that its scripts read.

The answers are not in the export: `evaluator.py` asks a server of `sandmill serve`.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import chain

from sandmill.export.base import ExportTask, within
from sandmill.models.release import Manifest
from sandmill.models.texts import DESCRIPTION

TRAIN_LIST = "ok_competitions_sanity.json"
"""Ids for training. SandMLE's script validates on the first 64 of them in alphabetical order."""
HELD_BACK_LIST = "ok_competitions_sanity_random_64.json"
"""Ids for evaluation: of the split validation, then of the held-out splits."""
_HELD_BACK = 64

_MAIN = """

if __name__ == "__main__":
    evaluate("{task_id}")
"""


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the public folder of each task, and the two lists of ids."""
    evaluator = (files("sandmill.export") / "evaluator.py").read_text(encoding="utf-8")
    by_split: dict[str, list[str]] = {}
    for task in tasks:
        by_split.setdefault(task.record.split, []).append(task.task_id)
        texts = {
            DESCRIPTION: task.plain_description,
            "evaluator.py": evaluator + _MAIN.format(task_id=task.task_id),
        }
        yield from within(f"{task.task_id}/prepared/public", {**task.data_files, **texts})
    train = sorted(by_split.pop("train", []))
    held_back = [*sorted(by_split.pop("validation", [])), *sorted(chain(*by_split.values()))]
    yield TRAIN_LIST, _listed(train)
    yield HELD_BACK_LIST, _listed(sorted(held_back[:_HELD_BACK]))


def _listed(ids: list[str]) -> bytes:
    return (json.dumps(ids, indent=1) + "\n").encode()
