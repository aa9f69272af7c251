"""NeMo Gym: Harbor task folders, and the rows and the configuration of its agent `harbor_agent_general`."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sandmill.export import harbor
from sandmill.export.base import ExportTask, readme, template
from sandmill.export.harbor import image_name
from sandmill.models.release import SPLITS, Manifest

_CONFIG = template("nemo_gym.yaml")


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a Harbor export, then the rows of each split, the configuration and README.md."""
    by_split: dict[str, list[str]] = defaultdict(list)

    def noted() -> Iterator[ExportTask]:
        for task in tasks:
            by_split[task.record.split].append(task.task_id)
            yield task

    yield from (file for file in harbor.export(noted(), manifest) if file[0] != "README.md")
    for split in (split for split in SPLITS if split in by_split):
        rows = [{"task_name": task_id, "responses_create_params": {"input": []}} for task_id in by_split[split]]
        yield f"data/{split}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    names = {"dataset": manifest.dataset, "version": manifest.version, "image": image_name()}
    yield "config.yaml", _CONFIG.format(**names).encode()
    yield readme("nemo_gym.md", manifest, image=names["image"])
