"""Write the public schemas of models and tables as files: `python -m sandmill.schemas schemas`."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sandmill.models.certificate import Certificate
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
    *(TaskRecord, TaskFile, Manifest, Certificate, GradeReport, Rejection, RolloutRecord),
)


def schema_files() -> dict[str, str]:
    """Return all schemas as text by file name: JSON Schema of the models, Arrow schemas of the tables.

    The texts are the same on every machine: computed defaults, such as the number of CPU cores, are not in them.
    """
    from sandmill.store import arrow_tables
    from sandmill.store.rollouts import ROLLOUTS

    tables = ("PUBLIC_TASKS", "PRIVATE_TASKS", "FILES", "REJECTIONS", "SLOTS", "DURATIONS")
    files = {f"{name.lower()}.{VERSION}.arrow.txt": _arrow_text(getattr(arrow_tables, name)) for name in tables}
    files[f"rollouts.{VERSION}.arrow.txt"] = _arrow_text(ROLLOUTS)
    for model in MODELS:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()
        text = json.dumps(model.model_json_schema(), indent=2, sort_keys=True, ensure_ascii=False)
        files[f"{name}.{VERSION}.json"] = f"{text}\n"
    return dict(sorted(files.items()))


def _arrow_text(schema: Any) -> str:
    lines = (f"{field.name}: {field.type}" + ("" if field.nullable else " not null") for field in schema)
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write all schemas into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
