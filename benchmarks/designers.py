"""Designers of several releases side by side: python -m benchmarks.designers releases/micro releases/llm-demo."""

import json
import sys
from collections.abc import Iterable

from sandmill.report.designers import DesignerRow
from sandmill.report.text_tables import TextTable, to_markdown
from sandmill.store.release import load


def main(references: list[str]) -> int:
    """Print one row for each designer of each release that is named."""
    if not references:
        print("usage: python -m benchmarks.designers RELEASE [RELEASE ...]", file=sys.stderr)
        return 2
    rows = [
        (reference, DesignerRow.model_validate(row))
        for reference in references
        for row in json.loads(load(reference).report("designers.json") or b"[]")
    ]
    print(to_markdown(designers_table(rows)))
    return 0


def designers_table(rows: Iterable[tuple[str, DesignerRow]]) -> TextTable:
    """Show designers side by side, each with the name of its release."""
    header = (
        "release",
        "designer",
        "designs",
        "yield",
        "difficulty",
        "spread",
        "domains",
        "variety",
        "from seed",
        "tokens a design",
        "USD a design",
    )
    cells = tuple(
        (
            name,
            row.designer,
            str(row.designs),
            f"{row.yield_share:.0%}",
            f"{row.difficulty:.2f}",
            f"{row.difficulty_spread:.2f}",
            str(row.domains),
            f"{row.variety:.2f}",
            "-" if row.seed_distance is None else f"{row.seed_distance:.2f}",
            f"{row.tokens / row.designs:.0f}" if row.requests else "-",
            "-" if row.usd_a_design is None else f"{row.usd_a_design:.4f}",
        )
        for name, row in rows
    )
    return TextTable("Designers", header, cells, frozenset(range(2, 11)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
