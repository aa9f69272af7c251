"""docs/metrics.md says what the registry says. After a wanted change run this file with SANDMILL_WRITE_GOLDEN=1."""

import os
import re
from pathlib import Path

from sandmill.metrics.forms import FORMS
from sandmill.metrics.registry import METRICS
from sandmill.metrics.support import ANSWER_FORMS
from sandmill.models.package import LIST_LENGTH
from sandmill.models.structure import MetricName, TargetKind
from tests.unit.metrics.test_parity import CASES, DEVIATIONS

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def metric_table():
    rows = ["| metric | title | better | best decision | exact |", "|---|---|---|---|---|"]
    for name in (name for name in MetricName if name in METRICS):
        metric = METRICS[name]
        exact = "yes" if metric.decision_is_exact else "tuned" if metric.decision_is_tuned else "no"
        better = "lower" if metric.is_lower_better else "higher"
        rows.append(f"| `{name}` | {metric.title} | {better} | {metric.decision} | {exact} |".replace("|y|", "abs(y)"))
    return "\n".join(rows)


def target_table():
    rows = ["| target | submission holds | metrics |", "|---|---|---|"]
    for kind in TargetKind:
        for encoding in FORMS:
            pairs = [pair for pair, held in ANSWER_FORMS.items() if (pair[0], held) == (kind, encoding)]
            rows += [f"| `{kind}` | `{encoding}` | {', '.join(f'`{name}`' for _, name in pairs)} |"] * bool(pairs)
    return "\n".join(rows)


def difference_table():
    rows = ["| metric | difference |", "|---|---|"]
    rows += [
        f"| `{name}` | {METRICS[name].difference} |"
        for name in MetricName
        if name in METRICS and METRICS[name].difference
    ]
    return "\n".join(rows)


TABLES = {"metrics": metric_table(), "targets": target_table(), "differences": difference_table()}


def test_the_tables_of_the_page_are_those_of_the_registry():
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        for name, table in TABLES.items():
            page = re.sub(
                rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m, t=table: f"{m[1]}{t}\n{m[2]}", page, flags=re.S
            )
        PAGE.write_text(page, encoding="utf-8")
    for name, table in TABLES.items():
        assert f"<!-- {name} -->\n{table}\n<!-- /{name} -->" in page


def test_the_page_explains_every_encoding_and_states_the_numbers_in_the_code():
    page = PAGE.read_text(encoding="utf-8")
    assert [encoding for encoding in FORMS if f"| `{encoding}` |" not in page.split("<!--")[0]] == []
    assert f"the first {LIST_LENGTH} places" in page
    assert f"{len(CASES)} graded cases" in page
    assert f"{len(DEVIATIONS)} of them" in page


def test_every_metric_is_on_the_page_or_named_as_unsupported():
    unsupported = PAGE.read_text(encoding="utf-8").split("## Unsupported metrics")[1]
    assert [name for name in MetricName if name not in METRICS and f"`{name}`" not in unsupported] == []
