"""Harbor task folders, schema 1.4. Several trainers read them too, NeMo Gym with rows of its own.

One image serves a whole release. Harbor uploads the public files to the agent's container. The verifier runs in another
container, to which Harbor uploads answers, grader and the agent's submission.csv.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from sandmill.errors import count
from sandmill.export.base import ExportTask, readme, template
from sandmill.export.grader import grader_source
from sandmill.models.base import Band
from sandmill.models.release import SPLITS, Manifest
from sandmill.scoring.gap import gap_closed

WORKDIR = "/workdir"
BASE_IMAGE = "python:3.12.11-slim-bookworm"
"""Base of the agent's image, pinned by its tag."""

DOCKERFILE = template("harbor_image.txt").format(base_image=BASE_IMAGE, workdir=WORKDIR)

TEST_SH = template("harbor_test.txt").format(workdir=WORKDIR)

SOLVE_SH = f"""\
#!/bin/sh
cd {WORKDIR} && exec python /solution/solution.py
"""

HOW_TO_SUBMIT = template("harbor_submit.md").format(workdir=WORKDIR)

ORGANIZATION = "sandmill"
"""First part of the names of tasks and datasets, which Harbor writes as org/name."""
FOLDER = "tasks"
"""Folder of the task folders, where trainers that read Harbor datasets expect them."""
AGENT_SECONDS, VERIFIER_SECONDS = 1800.0, 300.0


def agent_requirements() -> str:
    """Return the pinned packages of the agent's interpreter."""
    return (files("sandmill.sandbox") / "requirements-agent.txt").read_text(encoding="utf-8")


def image_name() -> str:
    """Return the name of the image, with a tag that follows from its content."""
    return f"sandmill-agent:{sha256((DOCKERFILE + agent_requirements()).encode()).hexdigest()[:12]}"


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the files of all task folders, then those of the dataset."""
    digests: dict[str, str] = {}
    for task in tasks:
        files = task_files(task, manifest)
        yield from ((f"{FOLDER}/{task.task_id}/{path}", content) for path, content in files.items())
        digests[task.task_id] = task_digest(files)
    yield from dataset_files(digests, manifest)


def task_files(task: ExportTask, manifest: Manifest) -> dict[str, bytes]:
    """Return the files of one task folder by path."""
    texts_by_path = {
        "task.toml": _task_toml(task, manifest),
        "instruction.md": f"{task.description.rstrip()}\n\n{HOW_TO_SUBMIT}",
        "tests/test.sh": TEST_SH,
        "tests/verify.py": template("harbor_verify.txt"),
        "tests/grader.py": grader_source(task),
        "solution/solve.sh": SOLVE_SH,
    }
    public = {f"environment/public/{path}": content for path, content in task.files_of_runs.items()}
    private = {
        "tests/answers.csv": task.private["answers.csv"],
        "solution/solution.py": task.private["solution.py"],
    }
    return {path: text.encode() for path, text in texts_by_path.items()} | public | private


def task_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a task folder as Harbor computes it: over the sorted paths and the digests of the files."""
    lines = (f"{path}\0{sha256(files[path]).hexdigest()}\n" for path in sorted(files))
    return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def dataset_files(digests: Mapping[str, str], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest of the dataset, the registry, the recipe of the image and the README."""
    description = f"{count(len(digests), 'machine-learning task')} of micro scale with calibrated thresholds"
    names = {task_id: f"{ORGANIZATION}/{task_id}" for task_id in digests}
    dataset = _table(
        "dataset",
        {"name": f"{ORGANIZATION}/{manifest.dataset}", "version": manifest.version, "description": description},
    )
    entries = [_table("[tasks]", {"name": names[task_id], "digest": digest}) for task_id, digest in digests.items()]
    yield f"{FOLDER}/dataset.toml", "\n".join(['schema_version = "1.0"\n', dataset, *entries]).encode()
    registry = {
        "name": manifest.dataset,
        "version": manifest.version,
        "description": description,
        "tasks": [{"name": names[task_id], "path": f"{FOLDER}/{task_id}"} for task_id in digests],
        "metrics": [],
    }
    yield "registry.json", f"{json.dumps([registry], indent=1)}\n".encode()
    yield "image/Dockerfile", DOCKERFILE.encode()
    yield "image/requirements.txt", agent_requirements().encode()
    yield readme("harbor.md", manifest, count=count(len(digests), "task").capitalize(), image=image_name())


def _task_toml(task: ExportTask, manifest: Manifest) -> str:
    record = task.record
    facts, structure, difficulty = record.facts, record.spec.structure, record.calibration.difficulty
    band, split = difficulty.band, [structure.split] if structure.split else []
    tags = [facts.kind, facts.target, facts.metric, *split, f"band-{band}", f"split-{record.split}"]
    package = {"name": f"{ORGANIZATION}/{task.task_id}", "version": manifest.version}
    metadata = {
        # Harbor knows easy, medium and hard. The exact band is in the tags.
        "difficulty": "hard" if band is Band.EXPERT else str(band),
        "category": f"machine-learning-{structure.modality}",
        "tags": [str(tag).replace("_", "-") for tag in tags],
    }
    head = f'schema_version = "1.4"\nartifacts = ["{WORKDIR}/submission.csv"]\n'
    tables: dict[str, dict[str, Any]] = {
        "task": package | {"description": f"Predict {facts.target_column}", "keywords": metadata["tags"]},
        "metadata": metadata,
        # Where a task comes from and how hard it is. Thresholds and answers are not named.
        "metadata.sandmill": {
            "release": f"{manifest.dataset}@{manifest.version}",
            "task_id": record.task_id,
            "digest": record.digest,
            "split": record.split,
            "band": band,
            "difficulty": difficulty.value,
            "metric": facts.metric,
            "structure": record.spec.structure_label,
            "seed": record.lineage.seed_id,
            "reward_preset": "gap",
            "reference_reward": reference_reward(task),
        },
        "agent": {"timeout_sec": AGENT_SECONDS, "user": "agent"},
        "environment": {
            "docker_image": image_name(),
            "network_mode": "no-network",
            "workdir": WORKDIR,
            "cpus": 1,
            "memory_mb": 4096,
        },
        "verifier": {"timeout_sec": VERIFIER_SECONDS, "environment_mode": "separate"},
    }
    return "\n".join([head, *(_table(name, values) for name, values in tables.items())])


def reference_reward(task: ExportTask) -> float:
    """Return the reward of the reference solution, which tells a low ceiling from a broken set-up."""
    score, board = task.record.verification.reference_score, task.record.calibration
    if score is None:
        return 0.0
    return min(1.0, max(0.0, round(gap_closed(score, board.trivial, board.reward_end), 6)))


def _table(name: str, values: Mapping[str, Any]) -> str:
    """Write one TOML table. A name in brackets is an array of tables."""
    # JSON writes a string, a number and a list of strings as TOML does.
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join([f"[{name}]", *lines, ""])


def nemo_gym(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield a Harbor export, then rows of each split and the configuration of NeMo Gym's `harbor_agent_general`."""
    by_split: dict[str, list[str]] = defaultdict(list)

    def noted() -> Iterator[ExportTask]:
        for task in tasks:
            by_split[task.record.split].append(task.task_id)
            yield task

    yield from (file for file in export(noted(), manifest) if file[0] != "README.md")
    for split in (split for split in SPLITS if split in by_split):
        rows = [{"task_name": task_id, "responses_create_params": {"input": []}} for task_id in by_split[split]]
        yield f"data/{split}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    names = {"dataset": manifest.dataset, "version": manifest.version, "image": image_name()}
    yield "config.yaml", template("nemo_gym.yaml").format(**names).encode()
    yield readme("nemo_gym.md", manifest, image=names["image"])
