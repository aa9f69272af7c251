"""The smoke variant of the proof: all arms, from a release to a table."""

import pytest

from learn.tests.tables import write_table
from sandmill_learn.results import read_results

ARMS = ("rejection", "gap", "baselines")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


def test_the_smoke_variant_trains_scores_and_reports_and_then_has_nothing_to_do(small_release, tmp_path, capsys):
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    from sandmill_learn.proof.__main__ import prove
    from sandmill_learn.proof.settings import ProofSettings

    for place, part in enumerate(("development", "final")):
        for number in range(3):
            write_table(tmp_path / "real" / part, f"{'beans' * (1 + number)}{place}.d0", test=300)
    real, to = tmp_path / "real", tmp_path / "proof"
    # Replicates need the secret of a release, which this one lacks.
    settings = ProofSettings(release=small_release, real=real, to=to, smoke=True, arms=ARMS, replicates=0)
    prove(settings)
    rows = read_results(tmp_path / "proof" / "results.parquet")
    arms = {row.arm for row in rows}
    assert {"sft", "rejection", "grpo-gap", "best-single", "portfolio-3"} <= arms
    assert {row.source for row in rows} == {"development", "final"}
    assert any(row.valid for row in rows if row.arm == "best-single")
    assert "Differences on final tables, greedy" in capsys.readouterr().out
    table = (tmp_path / "proof" / "table.md").read_bytes()
    prove(settings)
    assert (tmp_path / "proof" / "table.md").read_bytes() == table
