"""NeMo Gym: Harbor task folders, and the rows and the configuration of its agent `harbor_agent_general`."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sandmill.export import harbor
from sandmill.export.base import ExportTask
from sandmill.export.harbor import image_name
from sandmill.models.release import SPLITS, Manifest

_CONFIG = """\
# harbor_dataset_path is the folder `tasks` of this export, harbor_jobs_dir a new folder for the results of Harbor.
harbor_agent_general:
  responses_api_agents:
    harbor_agent_general:
      entrypoint: app.py
      domain: agent
      description: Machine-learning tasks of {dataset} {version} in Harbor containers without a network.
      harbor_jobs_dir: ${{harbor_jobs_dir}}
      harbor_reward_key: reward
      harbor_dataset:
        path: ${{harbor_dataset_path}}
      harbor_environment:
        type: docker
      harbor_agent:
        # terminus-2 asks the model from outside of the container, which has no network.
        name: terminus-2
        model_name: ${{policy_model_name}}

harbor_agent_general_environment_server:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server:
        type: responses_api_agents
        name: harbor_agent_general
"""

_README = """\
# {dataset} {version} for NeMo Gym

`tasks/` has Harbor task folders, `data/SPLIT.jsonl` one row for each task of a split, and `config.yaml` the
configuration of NeMo Gym's `harbor_agent_general`. From this folder:

```
docker build -t {image} image
gym env start --config "$PWD/config.yaml" --model MODEL \\
  ++harbor_dataset_path="$PWD/tasks" ++harbor_jobs_dir="$PWD/../harbor-jobs"
gym eval run --no-serve --config "$PWD/config.yaml" --agent harbor_agent_general \\
  --input "$PWD/data/train.jsonl" --output rollouts.jsonl ++harbor_jobs_dir="$PWD/../harbor-jobs"
```

A trial that fails, for example because its container or its verifier broke, has no reward. NeMo Gym tags its row
`harbor_failed`, and the `report.json` of a broken verifier has `mask_sample`, `failure_kind` and `failure_reason`.
Leave such rows out of the loss.

All tasks share one image. The verifier of each task runs in a container of its own, which alone gets the answers. The
older `harbor_agent` of NeMo Gym reads other rows.
"""


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
    yield "README.md", _README.format(**names).encode()
