"""Harbor task folders, schema 1.4. Several trainers read them too.

One image serves a whole release. Harbor uploads the public files to the agent's container. The verifier runs in another
container, to which Harbor uploads answers, grader and the agent's submission.csv.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from sandmill.errors import count
from sandmill.export import harbor_texts as texts
from sandmill.export.base import ExportSettings, ExportTask
from sandmill.export.grader import grader_source
from sandmill.models.base import Band
from sandmill.scoring.gap import gap_closed

ORGANIZATION = "sandmill"
"""First part of the names of tasks and datasets, which Harbor writes as org/name."""
FOLDER = "tasks"
"""Folder of the task folders, where trainers that read Harbor datasets expect them."""
AGENT_SECONDS, VERIFIER_SECONDS = 1800.0, 300.0

_DIFFICULTIES: Mapping[Band, str] = {Band.EXPERT: "hard"}
"""Harbor knows easy, medium and hard. The exact band is in the tags."""


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the files of all task folders, then those of the dataset."""
    digests: dict[str, str] = {}
    for task in tasks:
        files = task_files(task, settings)
        yield from ((f"{FOLDER}/{task.task_id}/{path}", content) for path, content in files.items())
        digests[task.task_id] = task_digest(files)
    yield from dataset_files(digests, settings)


def task_files(task: ExportTask, settings: ExportSettings) -> dict[str, bytes]:
    """Return the files of one task folder by path."""
    texts_by_path = {
        "task.toml": _task_toml(task, settings),
        "instruction.md": f"{task.description.rstrip()}\n\n{texts.HOW_TO_SUBMIT}",
        "tests/test.sh": texts.TEST_SH,
        "tests/verify.py": texts.VERIFY_PY,
        "tests/grader.py": grader_source(task),
        "solution/solve.sh": texts.SOLVE_SH,
    }
    public = {f"environment/public/{path}": content for path, content in task.public.items()}
    private = {
        "tests/answers.csv": task.private["answers.csv"],
        "solution/solution.py": task.private["solution.py"],
    }
    return {path: text.encode() for path, text in texts_by_path.items()} | public | private


def task_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a task folder as Harbor computes it: over the sorted paths and the digests of the files."""
    lines = (f"{path}\0{sha256(files[path]).hexdigest()}\n" for path in sorted(files))
    return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def dataset_files(digests: Mapping[str, str], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest of the dataset, the registry, the recipe of the image and the README."""
    manifest = settings.manifest
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
    yield "image/Dockerfile", texts.DOCKERFILE.encode()
    yield "image/requirements.txt", texts.agent_requirements().encode()
    readme = texts.README.format(
        dataset=manifest.dataset,
        version=manifest.version,
        count=count(len(digests), "task").capitalize(),
        image=texts.image_name(),
    )
    yield "README.md", readme.encode()


def _task_toml(task: ExportTask, settings: ExportSettings) -> str:
    facts, spec, band = task.record.facts, task.record.spec, task.record.calibration.difficulty.band
    structure = spec.structure
    split = [structure.split] if structure.split else []
    tags = [facts.kind, facts.target, facts.metric, *split, f"band-{band}", f"split-{task.record.split}"]
    package = {"name": f"{ORGANIZATION}/{task.task_id}", "version": settings.manifest.version}
    metadata = {
        "difficulty": _DIFFICULTIES.get(band, str(band)),
        "category": f"machine-learning-{structure.modality}",
        "tags": [str(tag).replace("_", "-") for tag in tags],
    }
    head = f'schema_version = "1.4"\nartifacts = [{_value(f"{texts.WORKDIR}/submission.csv")}]\n'
    tables = {
        "task": package | {"description": f"Predict {facts.target_column}", "keywords": metadata["tags"]},
        "metadata": metadata,
        "metadata.sandmill": _provenance(task, settings),
        "agent": {"timeout_sec": AGENT_SECONDS, "user": "agent"},
        "environment": {
            "docker_image": texts.image_name(),
            "network_mode": "no-network",
            "workdir": texts.WORKDIR,
            "cpus": 1,
            "memory_mb": 4096,
        },
        "verifier": {"timeout_sec": VERIFIER_SECONDS, "environment_mode": "separate"},
    }
    return "\n".join([head, *(_table(name, values) for name, values in tables.items())])


def _provenance(task: ExportTask, settings: ExportSettings) -> dict[str, Any]:
    """Return where a task comes from and how hard it is. Thresholds and answers are not named."""
    record, manifest = task.record, settings.manifest
    return {
        "release": f"{manifest.dataset}@{manifest.version}",
        "task_id": record.task_id,
        "digest": record.digest,
        "split": record.split,
        "band": record.calibration.difficulty.band,
        "difficulty": record.calibration.difficulty.value,
        "metric": record.facts.metric,
        "structure": record.spec.structure_label,
        "seed": record.lineage.seed_id,
        "reference_reward": reference_reward(task),
    }


def reference_reward(task: ExportTask) -> float:
    """Return the reward of the reference solution, which tells a low ceiling from a broken set-up."""
    score, board = task.record.verification.reference_score, task.record.calibration
    if score is None:
        return 0.0
    is_loose = board.ceiling is not None and board.ceiling.is_loose(board.trivial)
    top = board.thresholds.gold if is_loose and board.thresholds.gold != board.trivial else board.oracle
    return min(1.0, max(0.0, round(gap_closed(score, board.trivial, top), 6)))


def _table(name: str, values: Mapping[str, Any]) -> str:
    """Write one TOML table. A name in brackets is an array of tables."""
    return "\n".join([f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items()), ""])


def _value(value: Any) -> str:
    """Write a string, a number or a list of strings. JSON writes these as TOML does."""
    return json.dumps(value, ensure_ascii=False)
