"""Tables, charts and the verdict of the proof."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.learning.proof_data import DEVELOPMENT, FINAL
from benchmarks.learning.units import UnitResult
from sandmill.errors import InputError
from sandmill.learning.baseline_arms import BASELINES
from sandmill.learning.contrast import ContrastResult, decide, load_contrast
from sandmill.learning.plots import difference_plot, forest_plot, learning_curves
from sandmill.learning.results import write_atomically, write_results
from sandmill.learning.summary import arms_table, contrasts_table, group_arms, keep_sources
from sandmill.report import TextTable, to_markdown

REGISTERED = Path(__file__).parent / "registered.yaml"


class ProofReport:
    """Results of all units, as tables and files."""

    def __init__(self, units: Sequence[UnitResult], baseline_executions: Mapping[str, int]) -> None:
        self.units = units
        self.rows = [row for unit in units for row in unit.rows if row.arm in self._shown(unit)]
        self.spent = {unit.arm: unit.counts.requested for unit in units if unit.counts.requested}
        self.spent |= baseline_executions
        self.final = keep_sources(self.rows, FINAL)

    @property
    def verdict(self) -> ContrastResult | None:
        """The registered contrast; None if an arm of it was not run, or there are too few tables."""
        try:
            return decide(load_contrast(REGISTERED), self.rows)
        except InputError:
            return None

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
        """Write results.parquet, table.md and the charts."""
        write_results(folder / "results.parquet", self.rows)
        parts = [f"## {table.title}\n\n{to_markdown(table)}" for table in self.tables()]
        if self.verdict:
            parts.insert(0, f"Registered contrast: {self.verdict}")
        write_atomically(folder / "table.md", "\n\n".join(parts) + "\n")
        write_atomically(folder / "arms.svg", forest_plot(self.final))
        for value, title in (("greedy_gap", "Greedy gap on validation tasks"), ("reward", "Mean reward of samples")):
            chart = learning_curves(self._curves(value), title=title, value=value.replace("_", " "))
            write_atomically(folder / f"{value.replace('_', '-')}.svg", chart)
        greedy = {arm: group for (arm, at), group in group_arms(self.final).items() if at == 0}
        main = self._main_arm()
        for other in greedy:
            if other != main and main in greedy:
                chart = difference_plot(greedy[main], greedy[other], title=f"{main} against {other}, final, greedy")
                write_atomically(folder / f"against-{other}.svg", chart)

    def _main_arm(self) -> str:
        arms = [unit.arm for unit in self.units]
        return next((arm for arm in ("grpo-gap", *arms) if arm in arms), "")

    def _curves(self, value: str) -> dict[str, list[list[tuple[float, float]]]]:
        curves: dict[str, list[list[tuple[float, float]]]] = defaultdict(list)
        for unit in self.units:
            points = [(float(row.requested), getattr(row, value)) for row in unit.curve]
            if known := [(x, float(y)) for x, y in points if y is not None]:
                curves[unit.arm].append(known)
        return dict(curves)

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
