"""The content of tasks and exports stays what it was: a refactoring that changes it fails here.

Text is compared with numbers of six significant digits, since the last digits differ between machines. Lineage, code
versions and seconds are left out. After an intended change, freeze again (about ten minutes of processor time):

    SANDMILL_WRITE_GOLDEN=1 .venv/bin/python -m pytest tests/golden/test_frozen_content.py
"""

import json
import os
import re
from collections.abc import Mapping
from fcntl import LOCK_EX, flock
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

import sandmill
from sandmill.calibrate.stage import Calibrated
from sandmill.export.base import FORMATS, ExportTask
from sandmill.export.export import export
from sandmill.export.sft import export as chats
from sandmill.kinds.table import TABLE
from sandmill.models.kind import kind_of
from sandmill.models.plan import Attempt, Slot
from sandmill.models.request import BuildRequest
from sandmill.pipeline.attempt import AttemptJob, run_attempt
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.store.release import load
from tests.designs import SECRET, bundled_seeds

FROZEN = Path(__file__).parent / "frozen.json"
WRITES = os.environ.get("SANDMILL_WRITE_GOLDEN") == "1"
TABLES, OTHERS = 14, 2
"""Attempts at tables, and at each other kind. They accept every band."""
HARDNESS = (0.2, 0.45, 0.7)
FAST = (
    *("table 0", "table 2", "table 3", "table 6", "table 8", "table 10", "table_keys 0", "table_keys 1"),
    *("audio_archive 1", "image_archive 0", "json_rows 0", "text_dated 1"),
)
"""Attempts that run in the fast tests; the others are slow. Ten of them make tasks, in the least time of their kinds."""
_NUMBER = re.compile(rb"-?\d+\.\d+(?:[eE][-+]?\d+)?")
_VERSION = re.compile(rb"\b\d{4}-[0-9a-f]{8}\b|\b[0-9a-f]{64}\b|\b20\d\d-\d\d-\d\dT[0-9:.+]+")
"""Versions of releases, hashes and times: they depend on the code or on the moment."""


def digest(files: Mapping[str, bytes]) -> str:
    """Hash files by name, with rounded numbers in those that are text."""
    hashed = sha256()
    for name, content in sorted(files.items()):
        if b"\0" not in content:
            content = _VERSION.sub(b"-", _NUMBER.sub(lambda found: f"{float(found[0]):.6g}".encode(), content))
        hashed.update(f"{name} {len(content)}\n".encode() + content)
    return hashed.hexdigest()[:16]


def check(part: str, name: str, seen: object) -> None:
    """Compare with what is frozen, or freeze it."""
    if WRITES:
        with FROZEN.open("a+") as file:
            # Several workers of pytest may freeze at the same time.
            flock(file, LOCK_EX)
            file.seek(0)
            frozen = json.loads(file.read() or "{}")
            frozen.setdefault(part, {})[name] = seen
            file.truncate(0)
            file.write(json.dumps(frozen, indent=1, sort_keys=True) + "\n")
            return
    assert json.loads(FROZEN.read_text())[part][name] == seen


@cache
def plan() -> tuple[str, dict[str, Slot]]:
    """Return the fingerprint of a plan, and its slots by kind and number."""
    intake = bundled_seeds()
    kinds = {(kind_of(seed.structure) or TABLE).name for seed in intake.supported}
    counts = {name: TABLES if name == "table" else OTHERS for name in kinds}
    total = sum(counts.values())
    shares = {name: count / total for name, count in counts.items()}
    made = plan_build(BuildRequest(name="frozen", tasks=total, seed=11, kinds=shares), intake)
    slots, seen = {}, dict.fromkeys(kinds, 0)
    for slot in plan_slots(made):
        kind = (kind_of(slot.seed.structure) or TABLE).name
        slots[f"{kind} {seen[kind]}"] = slot
        seen[kind] += 1
    return made.fingerprint, slots


NAMES = sorted(plan()[1])


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in FAST else pytest.mark.slow) for name in NAMES])
def test_an_attempt_makes_the_frozen_task(name):
    fingerprint, slots = plan()
    slot = slots[name]
    hardness = HARDNESS[slot.number % len(HARDNESS)]
    attempt = Attempt(slot=slot, round=0, number=0, variant=0, hardness=hardness, any_band=True)
    made = run_attempt(AttemptJob(attempt, fingerprint, SECRET)).result
    if not isinstance(made, Calibrated):
        seen = {"rejected": f"{made.error.stage} {made.error.reason}"}
    else:
        seen = {
            "description": digest({"": made.package.public["description.md"]}),
            "public": digest(made.package.public),
            "private": digest(made.package.private),
            "design": digest({"": made.package.spec.model_dump_json().encode()}),
            "calibration": digest({"": made.calibration.model_dump_json().encode()}),
            "scripts": digest({file: source.encode() for file, source in made.scripts.items()}),
        }
    check("attempts", name, seen)


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"sft"}))
def test_an_export_writes_the_frozen_files(name, small_release, tmp_path):
    release = load(small_release)
    export(release, name, tmp_path / "to", release.task_ids[:1])
    files = {
        str(path.relative_to(tmp_path / "to")): path.read_bytes()
        for path in (tmp_path / "to").rglob("*")
        if path.is_file()
    }
    check("exports", name, {path: digest({"": content}) for path, content in sorted(files.items())})


def test_chats_of_a_task_stay(small_release):
    release = load(small_release)
    task_id = release.task_ids[0]
    record = release.record(task_id).model_copy(update={"split": "train"})
    task = ExportTask(record, release.files("public", task_id), release.files("private", task_id))
    files = dict(chats([task], release.manifest))
    check("exports", "sft", {path: digest({"": content}) for path, content in sorted(files.items())})


def test_public_names_stay():
    documented = set()
    for page in [Path("README.md"), *Path("docs").rglob("*.md")]:
        for module, names in re.findall(r"^\s*from (sandmill[\w.]*) import (.+)$", page.read_text(), re.M):
            documented |= {f"{module}:{name.strip()}" for name in names.split(",")}
    check("names", "sandmill", sorted(sandmill.__all__))
    check("names", "documented", sorted(documented))
