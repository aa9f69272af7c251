"""sandmill seeds: what a person sees of seeds before a build."""

import json
from functools import partial

import pytest

from tests import invoking
from tests.unit.seeds.conftest import write_competition

run = partial(invoking.run, "seeds")
CARD = """\
id: {id}
title: Late parcels
summary: Tell which parcels arrive late.
structure: {{modality: tabular, target: {target}, metric: roc_auc, positive_share: 0.01}}
source: our own depot
licence: CC0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds").mkdir()
    return tmp_path / "seeds"


def _write_all(folder):
    (folder / "card.yaml").write_text(CARD.format(id="parcels", target="binary"))
    (folder / "README.md").write_text("Seeds.")
    table = folder / "table"
    table.mkdir()
    (table / "seed.yaml").write_text("id: table\ntitle: t\nsummary: s\nsource: s\nlicence: l\ntarget: late\n")
    rows = "".join(f"{n % 7},{n % 2 if n > 2 else ''}\n" for n in range(60))
    (table / "t.csv").write_text(f"x,late\n{rows}")
    write_competition(str(folder / "leaf-classification"))


def test_the_screen_says_what_was_understood_changed_set_aside_and_skipped(folder):
    _write_all(folder)
    result = run("seeds")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    row = next(line for line in lines if line.startswith("parcels"))
    assert row.split()[:5] == ["parcels", "tabular", "binary", "roc_auc", "random"]
    assert 'table: 3 of 60 rows have no value of the target "late" and are left out' in lines
    assert any(line.startswith("bent: share of the rarest class or label: 0.01, becomes 0.2") for line in lines)
    assert any(line.startswith("topic, title and summary") for line in lines)
    assert any(line.startswith("leaf-classification: needs data in prepared/public") for line in lines)
    assert "seeds/README.md: a .md file" in lines
    assert lines[-1] == "2 can be used, 1 set aside, 1 skipped. See docs/seeds.md."


def test_json_holds_the_same_and_nothing_else_is_written(folder):
    _write_all(folder)
    shown = json.loads(run("seeds", "--json").stdout)
    used = {seed["id"]: seed for seed in shown["used"]}
    assert list(used) == ["parcels", "table"]
    assert used["parcels"]["structure"]["split"] is None
    assert {one["trait"] for one in used["parcels"]["traits"] if one["fate"] == "kept"} >= {"target", "metric"}
    assert used["table"]["warnings"] == ['3 of 60 rows have no value of the target "late" and are left out']
    assert [seed["id"] for seed in shown["set_aside"]] == ["leaf-classification"]
    assert shown["skipped"] == [{"source": "seeds/README.md", "reason": "a .md file"}]


def test_no_usable_seed_is_exit_code_2_and_still_shown(folder):
    write_competition(str(folder / "leaf-classification"))
    result = run("seeds")
    assert result.exit_code == 2
    assert "0 can be used, 1 set aside" in result.stdout


def test_a_malformed_source_is_exit_code_2_and_one_message(folder):
    _write_all(folder)
    (folder / "wrong.yaml").write_text(CARD.format(id="wrong", target="binry"))
    result = run("seeds")
    assert result.exit_code == 2
    assert 'saw "binry"' in result.stderr
    assert result.stdout == ""


def test_without_arguments_the_bundled_cards_are_shown(folder):
    assert "69 can be used, 2 set aside, 0 skipped." in run().stdout


def test_every_trait_of_a_table_is_kept_bent_or_dropped_before_anything_is_built(folder):
    rows = "".join(f"{n % 7},{n * 0.37:.2f},{'abc'[n % 3]},{'yes' if n % 40 == 0 else 'no'}\n" for n in range(400))
    (folder / "loans.csv").write_text(f"x,amount,town,default\n{rows}")
    result = run("seeds/loans.csv", "--target", "default")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert any(line.startswith("loans: ") and "kept" in line for line in lines)
    assert "kept: number of input columns: 3" in lines
    assert any(line.startswith("bent: share of the rarest class or label: 0.025, becomes 0.0") for line in lines)
    shown = json.loads(run("seeds/loans.csv", "--target", "default", "--json").stdout)
    fates = {one["trait"]: one["fate"] for one in shown["used"][0]["traits"]}
    assert (fates["n_columns"], fates["rarest_class"]) == ("kept", "bent")


def test_a_target_without_a_table_is_refused(folder):
    _write_all(folder)
    result = run("seeds", "--target", "late")
    assert result.exit_code == 2
    assert "no CSV or Parquet file among the seeds" in result.stderr
