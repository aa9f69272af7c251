"""sandmill show --fidelity: what tasks keep of their seeds, from the private half alone."""

import json
import shutil
from pathlib import Path

import pytest

from sandmill.models.fidelity import Fidelity, FidelityVector
from sandmill.store.files import Store
from tests.factories import make_task
from tests.invoking import run
from tests.publishing import fill_shard, publish_shards

SEED = FidelityVector(values={"target": "binary", "n_columns": 10.0, "missing": 0.2})
TASK = FidelityVector(values={"target": "binary", "n_columns": 14.0, "missing": 0.21})


@pytest.fixture
def release(tmp_path):
    tasks = [make_task(number) for number in range(3)]
    known = Fidelity(seed=SEED, task=TASK)
    lineage = tasks[0].record.lineage.model_copy(update={"fidelity": known})
    record = tasks[0].record.model_copy(update={"lineage": lineage})
    store = Store(str(tmp_path / "micro"))
    publish_shards(store, [fill_shard(store, range(3), [tasks[0].model_copy(update={"record": record}), *tasks[1:]])])
    return str(tmp_path / "micro"), record.task_id


def test_the_list_says_for_each_task_how_much_is_kept_and_for_each_seed_the_mean(release):
    place, task = release
    lines = [line.split() for line in run("show", place, "--fidelity").stdout.splitlines()]
    row = next(line for line in lines if line[:1] == [task])
    assert row[2] == make_task(0).record.spec.domain
    assert row[3:] == ["1", "of", "1", "1", "of", "2", "n_columns"]
    assert ["all", "3", "100%", "50%"] in lines


def test_one_task_shows_both_values_of_each_trait(release):
    place, task = release
    shown = run("show", place, task, "--fidelity").stdout
    row = next(line for line in shown.splitlines() if "number of input columns" in line)
    assert row.split()[-7:] == ["columns", "soft", "10", "14", "within", "30%", "NO"]
    found = json.loads(run("show", place, task, "--json", "--fidelity").stdout)
    assert found["kept"] == {"target": True, "n_columns": False, "missing": True}
    assert found["seed"]["values"]["n_columns"] == 10


def test_a_task_of_older_code_has_no_traits(release):
    place, first = release
    found = json.loads(run("show", place, "--json", "--fidelity").stdout)["tasks"]
    assert [bool(one["kept"]) for one in found if one["task_id"] != first] == [False, False]


def test_without_the_private_half_nothing_is_shown(release):
    place, _ = release
    for folder in list(Path(place).rglob("private")):
        shutil.rmtree(folder)
    result = run("show", place, "--fidelity")
    assert result.exit_code == 2
    assert "no private half that is readable here" in result.output
