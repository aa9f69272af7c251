"""Load a Harbor export with the real package. Usage: python check_harbor.py EXPORT [JSONL ...]. Prints JSON."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from harbor.environments.definition import should_upload_environment_dir
from harbor.models.dataset.manifest import DatasetManifest
from harbor.models.job.config import DatasetConfig
from harbor.models.registry import Registry
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition
from harbor.publisher.packager import Packager

export = Path(sys.argv[1])
folder = export / "tasks"
manifest = DatasetManifest.from_toml_file(folder / "dataset.toml")
digests = {task.name: task.digest for task in manifest.tasks}


def facts(place: Path) -> dict[str, object]:
    """Describe a task as Harbor reads it."""
    task = Task(place)
    verifier = resolve_verifier_environment_definition(task.config, task.paths)
    return {
        "name": task.name,
        "schema": task.config.schema_version,
        "is_valid": Task.is_valid_dir(place),
        "digest_agrees": digests[task.name] == f"sha256:{Packager.compute_content_hash(place)[0]}",
        "is_shared": verifier is None,
        "uploads_tests": not verifier.bundled_tests,
        "uploads_public": should_upload_environment_dir(
            task.paths.environment_dir, docker_image=task.config.environment.docker_image
        ),
        "images": [task.config.environment.docker_image, verifier.config.docker_image],
        "verifier_script": task.paths.discovered_test_path.name,
        "networks": [str(e.network_mode.value) for e in (task.config.environment, verifier.config)],
        "artifacts": task.config.artifacts,
        "difficulty": task.config.metadata["difficulty"],
        "instruction": task.instruction,
    }


places = sorted(path for path in folder.iterdir() if path.is_dir())
harbor = [str(Path(sys.executable).parent / "harbor"), "lint", "--json"]
lint = subprocess.run([*harbor, *places], capture_output=True, text=True, check=False)
strict = subprocess.run([*harbor, "--select", "ALL", *places], capture_output=True, text=True, check=False)
(registered,) = Registry.from_path(export / "registry.json").datasets


def found(names: list[str]) -> list[str]:
    """Return the tasks that Harbor finds in the folder under these names."""
    tasks = asyncio.run(DatasetConfig(path=folder, task_names=names).get_task_configs())
    return sorted(task.path.name for task in tasks)


rows = [json.loads(line) for path in sys.argv[2:] for line in Path(path).read_text().splitlines()]
print(
    json.dumps(
        {
            "tasks": [facts(place) for place in places],
            "lint": [lint.returncode, json.loads(lint.stdout or "[]"), lint.stderr],
            "strict": sorted({finding["rule"] for finding in json.loads(strict.stdout or "[]")}),
            "registered": sorted(str(task.path) for task in registered.tasks),
            "dataset": [manifest.dataset.name, manifest.dataset.version],
            "rows_found": [found([row["task_name"]]) for row in rows],
        }
    )
)
