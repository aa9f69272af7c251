"""Tables of the proof."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sandmill.report.text_tables import TextTable, to_markdown
from sandmill_learn.baselines import BASELINES
from sandmill_learn.proof.arms import UnitResult
from sandmill_learn.proof.data import DEVELOPMENT, FINAL
from sandmill_learn.records import write_file
from sandmill_learn.results import write_results
from sandmill_learn.summary import arms_table, contrasts_table, keep_sources


class ProofReport:
    """Results of all units, as tables and files."""

    def __init__(self, units: Sequence[UnitResult], baseline_executions: Mapping[str, int]) -> None:
        self.units = units
        self.rows = [row for unit in units for row in unit.rows if row.arm in self._shown(unit)]
        self.spent = {unit.arm: unit.counts.requested for unit in units if unit.counts.requested}
        self.spent |= baseline_executions
        self.final = keep_sources(self.rows, FINAL)

    def tables(self) -> tuple[TextTable, ...]:
        """Return the arms on final and on development tables, differences to the main arm, and times."""
        main, arms = self._main_arm(), list(dict.fromkeys(row.arm for row in self.final))
        titled = (
            _titled("Final tables", arms_table(self.final, self.spent)),
            _titled("Development tables", arms_table(keep_sources(self.rows, DEVELOPMENT), self.spent)),
            _titled("Differences on final tables, greedy", contrasts_table(self.final, main, arms)),
            _titled("Differences on final tables, T = 1", contrasts_table(self.final, main, arms, temperature=1.0)),
            _units_table(self.units),
        )
        return tuple(table for table in titled if table.rows)

    def write(self, folder: Path) -> None:
        """Write results.parquet and table.md."""
        write_results(folder / "results.parquet", self.rows)
        parts = [f"## {table.title}\n\n{to_markdown(table)}" for table in self.tables()]
        write_file(folder / "table.md", "\n\n".join(parts) + "\n")

    def _main_arm(self) -> str:
        arms = [unit.arm for unit in self.units]
        return next((arm for arm in ("grpo-gap", *arms) if arm in arms), "")

    @staticmethod
    def _shown(unit: UnitResult) -> Sequence[str]:
        return BASELINES if unit.arm == "baselines" else (unit.arm,)


def _titled(title: str, table: TextTable) -> TextTable:
    return TextTable(title, table.header, table.rows, table.numeric)


def _units_table(units: Sequence[UnitResult]) -> TextTable:
    header = ("unit", "seed", "seconds", "executions asked for", "scripts run", "scored rows")
    rows = tuple(
        (
            unit.arm,
            str(unit.seed),
            f"{unit.seconds:.0f}",
            str(unit.counts.requested),
            str(unit.counts.executed),
            str(len(unit.rows)),
        )
        for unit in units
    )
    return TextTable("Units", header, rows, frozenset({1, 2, 3, 4, 5}))
