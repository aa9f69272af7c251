"""Write the public schemas of models and tables as files: `python -m sandmill.schemas schemas`."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sandmill.models.package import TaskFile
from sandmill.models.release import Manifest, TaskRecord
from sandmill.models.reports import GradeReport, Rejection
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.rollout import RolloutRecord
from sandmill.models.seed import SeedTask
from sandmill.models.spec import TaskSpec

VERSION = "v1"
"""Version of the schemas. A breaking change needs a new version in addition to the old one."""

MODELS: tuple[type[BaseModel], ...] = (
    *(BuildRequest, RunSettings, SeedTask, TaskSpec),
    *(TaskRecord, TaskFile, Manifest, GradeReport, Rejection, RolloutRecord),
)


def schema_files() -> dict[str, str]:
    """Return all schemas as text by file name: JSON Schema of the models, Arrow schemas of the tables.

    The texts are the same on every machine: computed defaults, such as the number of CPU cores, are not in them.
    """
    from sandmill.store import arrow_tables
    from sandmill.store.rollouts import ROLLOUTS

    tables = ("PUBLIC_TASKS", "PRIVATE_TASKS", "FILES", "REJECTIONS", "SLOTS")
    files = {f"{name.lower()}.{VERSION}.arrow.txt": _arrow_text(getattr(arrow_tables, name)) for name in tables}
    files[f"rollouts.{VERSION}.arrow.txt"] = _arrow_text(ROLLOUTS)
    for name, schema in arrow_tables.FACTS_TABLES.items():
        files[f"{name.replace('/', '_')}.{VERSION}.arrow.txt"] = _arrow_text(schema)
    for model in MODELS:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()
        text = json.dumps(model.model_json_schema(), indent=2, sort_keys=True, ensure_ascii=False)
        files[f"{name}.{VERSION}.json"] = f"{text}\n"
    return dict(sorted(files.items()))


def write_schemas(folder: Path) -> list[str]:
    """Write all schemas whose text has changed into a folder. Other files stay as they are.

    Returns:
        Names of the files that changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = schema_files()
    there = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    changed = [name for name, text in files.items() if there.get(name) != text.encode()]
    for name in changed:
        (folder / name).write_bytes(files[name].encode())
    return changed


def _arrow_text(schema: Any) -> str:
    lines = (f"{field.name}: {field.type}" + ("" if field.nullable else " not null") for field in schema)
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schemas into the folder given on the command line."""
    if len(arguments) != 1:
        sys.stderr.write(f"saw {len(arguments)} arguments; expected one folder, such as schemas\n")
        return 2
    for name in write_schemas(Path(arguments[0])):
        sys.stdout.write(f"{arguments[0]}/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
