"""`mlcroissant` validates croissant.json of a version, without warnings, and reads its tables from the folder."""

from pathlib import Path

from sandmill.models.names import DURATIONS_FILE
from sandmill.store.release import load


def test_mlcroissant_validates_a_version_and_reads_its_public_tables(run_client, small_release):
    release = load(small_release)
    seen = run_client("croissant", "check_croissant.py", Path(release.store.root) / release.version / "croissant.json")
    assert seen["warnings"] == []
    assert seen["name"] == "small"
    assert all(seen["rai"])
    assert seen["tasks"] == seen["durations"] == list(release.task_ids)
    assert seen["files"] == sum(len(release.files("public", task_id)) for task_id in release.task_ids)
    wanted = {part.path: part.sha256 for part in release.manifest.parts if part.path.startswith("public/")}
    durations = {part.path: part.sha256 for part in release.manifest.parts if part.path == DURATIONS_FILE}
    assert seen["hashes"] == wanted | durations
    assert set(seen["columns"]) == {"tasks", "files", "durations"}
