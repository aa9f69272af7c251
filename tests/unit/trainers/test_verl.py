"""verl's contract: rows of our export, the function loaded from its file, numbers for every sample."""

import asyncio
import importlib.util
import inspect
import json
import sys

import pyarrow.parquet as pq
import pytest

import sandmill
from sandmill.errors import InputError, ReleaseNotFound
from sandmill.export.export import export
from sandmill.store.release import load
from sandmill.trainers import verl
from tests.unit.export.tiny import BROKEN, FAULT, PERFECT, SAMPLE, fenced, obey, publish_tiny


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return publish_tiny(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def row(ref, tmp_path_factory):
    to = tmp_path_factory.mktemp("export") / "verl"
    export(load(ref), "verl", to)
    return pq.read_table(to / "train.parquet").to_pylist()[0]


@pytest.fixture(autouse=True)
def sandbox(monkeypatch):
    runner = obey()
    monkeypatch.setattr("sandmill.play.task.shared_sandbox", lambda: runner)
    return runner


def score(row, answer, **settings):
    """Call the function with the arguments that verl's reward manager passes."""
    return asyncio.run(
        verl.compute_score(
            data_source=row["data_source"],
            solution_str=answer,
            ground_truth=row["reward_model"]["ground_truth"],
            extra_info=row["extra_info"],
            reward_router_address=None,
            **settings,
        )
    )


def test_answers_to_an_exported_row_are_scored_with_equal_keys(row, ref):
    found = {script: score(row, fenced(script), release=ref) for script in (PERFECT, SAMPLE, BROKEN)}
    assert {script: numbers["score"] for script, numbers in found.items()} == {PERFECT: 1, SAMPLE: 0, BROKEN: 0}
    numbers = {"score": 1, "mask_sample": 0, "valid": 1, "medal": 3, "reward/ladder": 1, "reward/gap": 0}
    assert found[PERFECT].items() >= numbers.items()
    named = json.loads(row["reward_model"]["ground_truth"])["task_id"], load(ref).ref
    assert (found[PERFECT]["task_id"], found[PERFECT]["release"]) == named
    assert len({answer["episode_id"] for answer in found.values()}) == 3
    assert found[SAMPLE]["valid"] == 1
    assert found[BROKEN]["valid"] == 0
    assert len({tuple(answer) for answer in found.values()}) == 1
    assert all(type(answer[name]) in (int, float) for answer in found.values() for name in numbers)


def test_a_masked_answer_is_repeated_and_then_zero_with_a_mark(row, ref, sandbox):
    masked = score(row, fenced(FAULT), release=ref)
    numbers = {"score": 0, "mask_sample": 1, "valid": 0, "medal": 0, "reward/ladder": 0, "reward/gap": 0}
    assert masked.items() >= numbers.items()
    assert len(sandbox.calls) == 9
    with pytest.raises(verl.EpisodeMasked, match="failed in 3 episodes"):
        score(row, fenced(FAULT), release=ref, on_fault="raise")


def test_servers_that_do_not_answer_mask_the_answer_and_end_no_batch(row, ref, tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-of-sixteen-characters\n")
    settings = {"release": ref, "servers": ["http://127.0.0.1:9"], "token_file": str(token)}
    assert score(row, fenced(PERFECT), **settings)["mask_sample"] == 1
    with pytest.raises(InputError, match="token_file"):
        score(row, fenced(PERFECT), **{**settings, "token_file": str(tmp_path / "none")})


def test_a_plain_task_id_names_the_task(row, ref):
    plain = {**row, "reward_model": {"ground_truth": json.loads(row["reward_model"]["ground_truth"])["task_id"]}}
    assert score(plain, fenced(PERFECT), release=ref)["score"] == 1


def test_a_row_of_another_version_is_refused(row, ref):
    reference = json.loads(row["reward_model"]["ground_truth"]) | {"digest": "0" * 64}
    with pytest.raises(InputError, match="Export the rows again"):
        score({**row, "reward_model": {"ground_truth": json.dumps(reference)}}, fenced(PERFECT), release=ref)
    with pytest.raises(InputError, match="a JSON object with task_id"):
        score({**row, "reward_model": {"ground_truth": "{}"}}, fenced(PERFECT), release=ref)
    with pytest.raises(ReleaseNotFound):
        score({**row, "reward_model": {"ground_truth": "nothing"}}, fenced(PERFECT), release=ref)


def test_the_release_comes_from_the_arguments_or_from_the_environment(row, ref, monkeypatch):
    with pytest.raises(InputError, match="SANDMILL_RELEASE"):
        score(row, fenced(PERFECT))
    monkeypatch.setenv("SANDMILL_RELEASE", ref)
    assert score(row, fenced(PERFECT))["score"] == 1


def test_the_file_loads_by_its_path_as_verl_loads_it(row, ref):
    spec = importlib.util.spec_from_file_location("custom_module", inspect.getfile(verl))
    module = importlib.util.module_from_spec(spec)
    sys.modules["custom_module"] = module
    try:
        spec.loader.exec_module(module)
        # verl awaits the function only if it sees that it is a coroutine function.
        assert inspect.iscoroutinefunction(module.compute_score)
        numbers = asyncio.run(
            module.compute_score("d", fenced(PERFECT), sandmill.load(ref).task_ids[0], {}, release=ref)
        )
        assert numbers["score"] == 1
    finally:
        del sys.modules["custom_module"]
