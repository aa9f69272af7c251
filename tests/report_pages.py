"""Pages of reports from tables that no build has made."""

import pyarrow as pa

from sandmill.report.html.page import PageHead, render_page, tasks_section
from sandmill.report.queries import View, count_facets, open_queries, task_columns
from sandmill.store.arrow_tables import PUBLIC_TASKS

METRICS = ("roc_auc", "rmsle", "accuracy", "mae", "qwk", "f1", "mcc")
TARGETS = ("binary", "multiclass", "number", "count")
MODALITIES = ("tabular", "text", "image", "audio")


def large_page(tasks: int) -> str:
    """Write the public page of a release with this many tasks."""
    rows = [
        {
            "task_id": f"sm{number:012x}",
            "split": "train" if number % 5 else "validation",
            "prompt": f"# Task {number} of domain {number % 83}\n\nPredict it from {' '.join(words(number))}.\n",
            "modality": MODALITIES[number * 7 % 11 % 4],
            "target": TARGETS[number % 4],
            "metric": METRICS[number % 7],
            "rows_train": 50 + number * 13 % 150,
            "rows_test": 1000 * (1 + number % 6),
        }
        for number in range(tasks)
    ]
    table = pa.Table.from_pylist(rows, schema=PUBLIC_TASKS)
    with open_queries({"public_tasks": View(table, "read_parquet('public/tasks-*.parquet')")}) as queries:
        facets, figure = count_facets(queries, "public"), task_columns(queries, "public")
    sections = [tasks_section("public", facets, figure, {}, "large@0001")]
    return render_page(PageHead(dataset="large", version="0001-00000000", edition="public"), sections)


def words(number: int) -> list[str]:
    """Return words of a domain, some of them its own."""
    return [f"word{'abcdefghij'[place]}{'klmnopqrst'[number % 83 % 10]}" for place in range(number % 7 + 3)]
