import json
import re
from pathlib import Path

import duckdb
import pytest

from sandmill.models.calibration import Thresholds
from sandmill.models.mechanism import Term
from sandmill.models.release import VerifiedTask
from sandmill.publish import release_report
from sandmill.publish.release_report import PAGE, TWIN, choose_tasks, make_report
from sandmill.report.html.figure import Figure
from sandmill.store.files import Store
from sandmill.store.release import StoredRelease, load
from tests.factories import make_task
from tests.publishing import FUNNEL, fill_shard, publish_numbers, publish_shards

SECRETS = (0.71339, 0.68117, 0.64223, 0.60331)
"""Thresholds that are nowhere else."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "micro"))


@pytest.fixture
def release(store: Store) -> StoredRelease:
    publish_numbers(store, range(3), range(3, 5))
    return load(store.root)


def with_other_private_half(task: VerifiedTask) -> VerifiedTask:
    """Change answers, scripts, rule, oracle, thresholds and leaderboard, and leave the public files alone."""
    record, package = task.record, task.package
    names = ("gold", "silver", "bronze", "median")
    measured = record.calibration.model_copy(
        update={
            "thresholds": Thresholds(**dict(zip(names, SECRETS, strict=True))),
            "oracle": 0.93377,
            "trivial": 0.41113,
            "reference": "kernel_ridge_of_secrets",
            "informed": 0.89991,
            "board": tuple(entry.model_copy(update={"solver": "zebra"}) for entry in record.calibration.board),
        }
    )
    spec = record.spec
    terms = tuple(
        term.model_copy(update={"weights": (0.12321,)}) if isinstance(term, Term) else term
        for term in spec.mechanism.terms
    )
    spec = spec.model_copy(update={"mechanism": spec.mechanism.model_copy(update={"terms": terms})})
    private = {name: content + b"# changed\n" for name, content in package.private.items() if name != "task.json"}
    return VerifiedTask(
        package=package.model_copy(update={"private": {**package.private, **private}, "spec": spec}),
        record=record.model_copy(update={"calibration": measured, "spec": spec, "digest": "d" * 64}),
    )


def public_page(root: str, tasks: list[VerifiedTask]) -> tuple[bytes, bytes]:
    store = Store(root)
    manifest, _ = publish_shards(store, [fill_shard(store, range(len(tasks)), tasks)])
    files = make_report(StoredRelease(store, manifest))
    return tuple(files[name].replace(manifest.version.encode(), b"VERSION") for name in (PAGE, TWIN))


def test_the_public_edition_does_not_depend_on_the_private_half(tmp_path):
    tasks = [make_task(number) for number in range(3)]
    others = [with_other_private_half(task) for task in tasks]
    assert tasks[0].record.calibration != others[0].record.calibration
    assert public_page(f"{tmp_path}/a", tasks) == public_page(f"{tmp_path}/b", others)


def test_private_words_and_numbers_stand_in_the_private_edition_alone(tmp_path):
    store = Store(f"{tmp_path}/micro")
    tasks = [with_other_private_half(make_task(number)) for number in range(2)]
    manifest, _ = publish_shards(store, [fill_shard(store, range(2), tasks)])
    release = StoredRelease(store, manifest)
    public, private = (b"".join(make_report(release, edition).values()) for edition in ("public", "private"))
    shown = [
        *map(str, SECRETS[:3]),
        "0.93377",
        "0.41113",
        "0.89991",
        "kernel_ridge_of_secrets",
        "zebra",
        "like another",
    ]
    assert [secret for secret in shown if secret.encode() not in private] == []
    hidden = [*shown, str(SECRETS[3]), "raise SystemExit", "0.12321", "# changed", "like another"]
    assert [secret for secret in hidden if secret.encode() in public] == []


@pytest.mark.parametrize("edition", ["public", "private"])
def test_the_sql_of_each_figure_gives_its_numbers_from_the_files_of_the_release(release, edition, monkeypatch):
    files = make_report(release, edition)
    twin, page = json.loads(files[TWIN]), files[PAGE].decode()
    monkeypatch.chdir(Path(release.store.root) / release.version)
    figures = {name: one for part in twin["sections"].values() for name, one in part["figures"].items()}
    assert {"funnel", "rejections", "seconds", "tasks", "facet-metric", "facet-tokens"} <= figures.keys()
    assert ("facet-band" in figures) == (edition == "private")
    for name, figure in figures.items():
        found = duckdb.sql(figure["sql"])
        assert found.columns == figure["columns"], name
        rows = [[float(x) if type(x).__name__ == "Decimal" else x for x in row] for row in found.fetchall()]
        assert rows == figure["rows"], name
        assert f'data-figure="{name}"' in page, name
    shown = json.loads(re.search(r'id="data-tasks">(.*?)</script>', page)[1])
    for facet in shown["facets"]:
        assert facet["values"] == figures[f"facet-{facet['id']}"]["rows"]


def test_a_large_release_shows_a_sample_and_says_so(release, monkeypatch):
    monkeypatch.setattr(release_report, "SAMPLED", 2)
    monkeypatch.setattr(release_report, "MEASURED", 3)
    made = make_report(release, "private")[PAGE].decode()
    assert "a sample of 2 of 5 tasks" in made
    assert "Private figures: 3 of 5 tasks" in made
    assert made.count('"sample":') == 2
    assert made.count('"marks":') == 3


def test_samples_are_spread_over_the_kinds_of_tasks():
    rows = [(f"t{number}", "table" if number < 9 else "image_masks") for number in range(10)]
    tasks = Figure(id="tasks", title="", sql="", columns=("task_id", "kind"), rows=tuple(rows))
    assert choose_tasks(tasks, 2) == ["t0", "t9"]


def test_prompts_of_strangers_stay_text(tmp_path):
    store = Store(f"{tmp_path}/micro")
    task = make_task(0)
    evil = "# </script><script>alert(1)</script> <img src=x onerror=alert(1)>"
    public = {**task.package.public, "description.md": evil.encode()}
    changed = VerifiedTask(package=task.package.model_copy(update={"public": public}), record=task.record)
    publish_shards(store, [fill_shard(store, range(1), [changed])])
    page = make_report(load(store.root))[PAGE].decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script>") == 1


def test_a_release_without_readable_reports_has_a_page(release):
    kept = tuple(part for part in release.manifest.parts if not part.path.startswith("reports/"))
    twin = json.loads(
        make_report(StoredRelease(release.store, release.manifest.model_copy(update={"parts": kept})))[TWIN]
    )
    assert twin["sections"]["build"]["figures"]["rejections"]["rows"] == []
    assert twin["facts"]["tasks"] == "5"


def test_a_strange_list_of_kinds_is_read_and_every_task_has_a_kind(store):
    kinds = [{"task_id": make_task(0).record.task_id, "kind": kind} for kind in ("image_masks", "</script>")]
    reports = {"funnel.json": FUNNEL.model_dump_json().encode(), "kinds.json": json.dumps(kinds).encode()}
    publish_shards(store, [fill_shard(store, range(2))], reports=reports)
    files = make_report(load(store.root))
    found = json.loads(files[TWIN])["sections"]["tasks"]["figures"]["facet-kind"]["rows"]
    assert sorted(found) == [["</script>", 1], ["tabular", 1]]
    assert files[PAGE].count(b"</script>") == files[PAGE].count(b"<script")


@pytest.mark.slow
def test_costs_of_designers_are_shown_where_the_build_recorded_them(small_release, monkeypatch):
    release = load(small_release)
    twin = json.loads(make_report(release)[TWIN])
    costs = twin["sections"]["build"]["figures"]["costs"]
    monkeypatch.chdir(Path(release.store.root) / release.version)
    assert [list(row) for row in duckdb.sql(costs["sql"]).fetchall()] == costs["rows"]
    assert release.report(PAGE) == make_report(release)[PAGE]
    assert release.report(TWIN) == make_report(release)[TWIN]
