"""Designers of several releases side by side: python -m benchmarks.designers releases/micro releases/llm-demo."""

import json
import sys

from sandmill.report.designers import DesignerRow, designers_table
from sandmill.report.text import to_markdown
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
