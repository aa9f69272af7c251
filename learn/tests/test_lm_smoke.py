"""The language model from the folder to the table of results, with a tiny random model."""

import json

import pytest

from learn.tests.models import write_model, write_tokenizer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_a_folder_is_prepared_and_all_phases_run_in_it(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("tokenizers")
    pytest.importorskip("trl")
    from sandmill_learn.lm.__main__ import main

    folder, work, out = tmp_path / "folder", tmp_path / "work", tmp_path / "out"
    folder.mkdir()
    write_tokenizer(folder / "tokenizer.json")
    places = ["--folder", str(folder), "--work", str(work), "--out", str(out)]
    small = ["--model", "tiny", "--prompts", "2", "--samples", "2", "--answer-tokens", "24", "--tables", "2"]
    assert main(["prepare", *places, *small, "--sizes", "4,4,2,2", "--real", "0", "--processes", "1"]) == 0
    known = json.loads((folder / "prepared.json").read_text())
    assert known["demonstrations"] >= 6 * known["lessons"]
    assert known["tables"]["held_out"] == 2
    seconds = ["--seconds", "300", "--steps", "4", "--workers", "1"]
    assert main(["all", *places, *small, *seconds]) == 0
    assert main(["grpo", *places, *small, *seconds, "--reward", "gap", "--start", "grpo-ladder-facts"]) == 0
    assert {path.name for path in work.glob("*.pt")} == {"sft.pt", "grpo-ladder-facts.pt", "grpo-ladder-facts-gap.pt"}
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert not [row for row in rows if "error" in row]
    phases = {row["phase"] for row in rows}
    assert phases >= {"sft", "start", "grpo ladder-facts", "grpo gap", "evaluate"}
    losses = [row["loss"] for row in rows if row["phase"] == "sft"]
    assert losses[-1] < losses[0] - 0.01
    assert "grpo-trl-gap.pt" not in {path.name for path in work.iterdir()}
    small[1] = str(write_model(folder / "tokenizer.json", tmp_path / "model"))
    assert main(["trl", *places, *small, *seconds, "--reward", "gap"]) == 0
    assert (work / "grpo-trl-gap.pt").exists()
    table = (out / "result.md").read_text()
    assert "held-out, greedy | grpo-ladder-facts" in table
    assert "script blind linear" in table
