"""The card of a release: what is in it, how hard it is and how to use it, in the form that dataset hubs read."""

from collections.abc import Iterator

from sandmill.models.calibration import BAND_FLOORS
from sandmill.models.release import SPLITS, Manifest
from sandmill.models.reports import Funnel
from sandmill.report.digest import ReleaseDigest, best_scores_in_words, count_table, mix_table
from sandmill.report.funnel import RejectionRow
from sandmill.report.text_tables import TextTable, funnel_table, rejections_table, to_markdown

LICENCE = "apache-2.0"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""Size tags of dataset hubs: the first bound that the number of tasks stays below."""

TAGS = ("machine-learning-engineering", "reinforcement-learning", "synthetic", "verifiable", "tabular")

USE = """With a clone of Sandmill's repository:

```bash
pip install .                                           # in the clone; or a wheel: python -m build --wheel
sandmill pull <root>/{dataset}@{version} --to tasks     # tasks as folders, public and private apart
sandmill grade tasks/<task_id> submission.csv           # score, medal and gap closed
```

Without our client, any Parquet reader will do. Each split has files of its own:

```python
import polars as pl

tasks = pl.read_parquet("public/tasks-{split}-*.parquet")    # task_id, split, prompt, metric, sizes
files = pl.read_parquet("public/files-{split}-*.parquet")    # task_id, path, sha256, bytes
```

```python
from datasets import load_dataset

tasks = load_dataset("<root>/{dataset}/{version}", "tasks")  # a split each: {splits}
```"""


def dataset_card(
    manifest: Manifest, digest: ReleaseDigest, funnel: Funnel, rejections: tuple[RejectionRow, ...]
) -> str:
    """Write README.md of a release: YAML front matter, then Markdown.

    Nothing in it names a task, its answers, its rule or its thresholds, so the card may be public where the private
    half is not.
    """
    return "\n\n".join([_front_matter(manifest), *_sections(manifest, digest, funnel, rejections)]) + "\n"


def _front_matter(manifest: Manifest) -> str:
    size = next((tag for bound, tag in SIZES if manifest.tasks < bound), "1M<n<10M")
    lines = [
        "---",
        f"pretty_name: {manifest.dataset}",
        f"license: {LICENCE}",
        "language:",
        "- en",
        "tags:",
        *(f"- {tag}" for tag in TAGS),
        "size_categories:",
        f"- {size}",
        "configs:",
        *_config("tasks", manifest),
        *_config("files", manifest),
        "---",
    ]
    return "\n".join(lines)


def _config(name: str, manifest: Manifest) -> Iterator[str]:
    """List the files of each split for loaders, so that they never mix splits."""
    yield f"- config_name: {name}"
    if name == "tasks":
        yield "  default: true"
    yield "  data_files:"
    for split in _splits(manifest):
        yield f"  - split: {split}"
        yield f"    path: public/{name}-{split}-*.parquet"


def _splits(manifest: Manifest) -> list[str]:
    """Name the splits that have files: a loader stops at a pattern that matches none."""
    return [split for split in SPLITS if any(part.path.startswith(f"public/tasks-{split}-") for part in manifest.parts)]


def _sections(
    manifest: Manifest, digest: ReleaseDigest, funnel: Funnel, rejections: tuple[RejectionRow, ...]
) -> Iterator[str]:
    yield f"# {manifest.dataset} {manifest.version}"
    yield _summarize(manifest, digest)
    yield "## How to pull and grade"
    splits = _splits(manifest)
    facts = {"dataset": manifest.dataset, "version": manifest.version}
    yield USE.format(**facts, split=next(iter(splits), "train"), splits=", ".join(splits))
    floors = ", ".join(f"{floor:g} ({band})" for band, floor in BAND_FLOORS.items())
    yield "## How hard"
    yield to_markdown(mix_table(digest))
    yield (
        "Difficulty is 1 - clip(gap closed by the median competent default solver, 0, 1), where 0 is the trivial "
        f"solver and 1 the oracle: the best possible score or its upper bound. Bands start at {floors}.\n\n"
        "Medal hardness is the chance that none of a few usual pipelines reaches silver, over several training draws. "
        "Difficulty foretells the share of the gap that a script closes; medal hardness foretells its medals.\n\n"
        f"The single solver that wins most without reading reaches gold on {digest.best_gold_rate:.0%} of the tasks."
        + _gold_rates(digest)
    )
    for kind, counts in digest.kinds.items():
        yield f"## {kind.title()}s"
        yield to_markdown(count_table(kind, counts))
    yield "## How it was made"
    yield to_markdown(funnel_table(funnel))
    yield "Attempts that failed, by reason:" if rejections else "No attempt was rejected."
    if rejections:
        yield to_markdown(rejections_table(rejections))
    yield "## What lies where"
    yield _list_parts(manifest)


def _gold_rates(digest: ReleaseDigest) -> str:
    """Say how often the adversary and the readers win gold, where they were measured."""
    said = ""
    if digest.adversary_tasks:
        rate = digest.adversary_golds / digest.adversary_tasks
        said += f" A stronger ensemble that stands outside of the leaderboard reaches it on {rate:.0%}."
    if digest.hinted:
        rate = digest.reader_golds / digest.hinted
        said += (
            f" Of the {digest.hinted} tasks whose texts state facts that pay, a solver that uses them reaches gold on "
            f"{rate:.0%}."
        )
    return said


def _summarize(manifest: Manifest, digest: ReleaseDigest) -> str:
    domains = len(digest.kinds["domain"])
    return (
        f"{digest.tasks} machine-learning-engineering tasks of micro scale (50 to 200 training rows), "
        f"{digest.designs[0]} designs in {domains} domains. Tasks are executed before they are published: "
        f"on {digest.verified} of {digest.tasks} a reference solution that reads only the public files reached gold on "
        "rows it was not chosen on, and the sample submission won nothing. The data come from declared mechanisms, so "
        f"the best possible score is computed: {best_scores_in_words(digest)}. Made by Sandmill "
        f"{manifest.code_version} on {manifest.created[:10]}."
    )


def _list_parts(manifest: Manifest) -> str:
    tables = (
        ("public/tasks-SPLIT-*.parquet", "a row a task: prompt, split, metric and sizes, all that an agent may see"),
        ("public/files-SPLIT-*.parquet", "a row a file: description, training rows, test rows, sample submission"),
        ("private/tasks-SPLIT-*.parquet", "a row a task for graders: design, thresholds, difficulty, lineage"),
        ("private/files-SPLIT-*.parquet", "a row a file for graders: answers, scripts from reference to naive"),
        ("reports/", "slots, rejections, and the suites of expectations with their results"),
        ("manifest.json", "hash, bytes and rows of each part; written last"),
    )
    table = to_markdown(TextTable("Parts", ("path", "what"), tables))
    return (
        f"{table}\n\nAgents must never see `private/`; it lies under a prefix of its own so that access can be split. "
        f"Content hash `{manifest.content}`, plan `{manifest.plan_fingerprint[:12]}`, secret `{manifest.secret_id}`, "
        f"agent environment `{manifest.agent_env[:12]}`, the same for all tasks. "
        "Splits keep the replicates of a design on one side; tasks of a held-out domain, or with a "
        "held-out motif, are in splits of their own, and no other task shows what they hold."
    )
