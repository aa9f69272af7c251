"""docs/metrics.md says what the registry says. After a change of targets run this file with SANDMILL_WRITE_GOLDEN=1."""

import os
import re
from pathlib import Path

from sandmill.models.package import LIST_LENGTH
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.catalogue import METRICS
from sandmill.scoring.forms import FORMS
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms
from tests.unit.scoring.test_parity import CASES, DEVIATIONS

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def target_table():
    rows = ["| target | submission holds | metrics |", "|---|---|---|"]
    for kind in TargetKind:
        for encoding in FORMS:
            known = ANSWER_FORMS | RENDERED_FORMS
            pairs = [pair for pair in known if pair[0] is kind and encoding in possible_forms(*pair)]
            rows += [f"| `{kind}` | `{encoding}` | {', '.join(f'`{name}`' for _, name in pairs)} |"] * bool(pairs)
    return "\n".join(rows)


def test_the_table_of_targets_is_that_of_the_registry():
    page, table = PAGE.read_text(encoding="utf-8"), target_table()
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        page = re.sub(
            r"(<!-- targets -->\n).*?(<!-- /targets -->)", lambda m: f"{m[1]}{table}\n{m[2]}", page, flags=re.S
        )
        PAGE.write_text(page, encoding="utf-8")
    assert f"<!-- targets -->\n{table}\n<!-- /targets -->" in page


def rows_of(table):
    page = PAGE.read_text(encoding="utf-8")
    lines = page.split(f"<!-- {table} -->\n")[1].split(f"\n<!-- /{table} -->")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_metric_has_a_row_with_its_title_direction_and_kind_of_decision():
    wanted = []
    for name in (name for name in MetricName if name in METRICS):
        metric = METRICS[name]
        exact = {"exact": "yes", "tuned": "tuned", "plug-in": "no"}[metric.decision]
        wanted.append([f"`{name}`", metric.title, "lower" if metric.is_lower_better else "higher", exact])
    rows = rows_of("metrics")
    assert [[name, title, better, exact] for name, title, better, _, exact in rows] == wanted
    assert all(decision for *_, decision, _ in rows)


def test_the_page_explains_every_encoding_and_states_the_numbers_in_the_code():
    page = PAGE.read_text(encoding="utf-8")
    assert [encoding for encoding in FORMS if f"| `{encoding}` |" not in page.split("<!--")[0]] == []
    assert f"the first {LIST_LENGTH} places" in page
    assert f"{len(CASES)} graded cases" in page
    assert f"{len(DEVIATIONS)} of them" in page


def test_every_metric_is_on_the_page_or_named_as_unsupported():
    unsupported = PAGE.read_text(encoding="utf-8").split("## Unsupported metrics")[1]
    assert [name for name in MetricName if name not in METRICS and f"`{name}`" not in unsupported] == []
