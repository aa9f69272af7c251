"""The card of a release: what is in it, how hard it is and how to use it, in the form that dataset hubs read.

Its words are in card.md: YAML front matter, then Markdown.
"""

from collections.abc import Sequence
from importlib.resources import files
from string import Template

from sandmill.models.calibration import BAND_FLOORS
from sandmill.models.release import SPLITS, Manifest
from sandmill.report.digest import ReleaseCounts, best_scores_in_words, mix_table, reading_table
from sandmill.report.text_tables import to_markdown

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""Size tags of dataset hubs: the first bound that the number of tasks stays below."""

_SAMPLES = (
    "Samples that come with the package. Everybody has their answers, so nothing that is trained or tested on them "
    "counts.\n\n"
)


def dataset_card(manifest: Manifest, counts: ReleaseCounts) -> str:
    """Write README.md of a release.

    Nothing in it names a task, its answers, its rule or its thresholds, so the card may be public where the private
    half is not.
    """
    paths = [part.path for part in manifest.parts]
    # A loader stops at a pattern that matches no file.
    splits = [split for split in SPLITS if any(path.startswith(f"public/tasks-{split}-") for path in paths)]
    template = Template((files("sandmill.report") / "card.md").read_text(encoding="utf-8"))
    return template.substitute(
        dataset=manifest.dataset,
        samples=_SAMPLES if manifest.dataset == "samples" else "",
        version=manifest.version,
        size=next((tag for bound, tag in SIZES if manifest.tasks < bound), "1M<n<10M"),
        configs="\n".join(_config(name, splits) for name in ("tasks", "files")),
        headline=" ".join(counts.headline()),
        designs=counts.designs,
        domains=len(counts.names["domains"]),
        best_scores=best_scores_in_words(counts),
        code=manifest.code_version,
        date=manifest.created[:10],
        split=next(iter(splits), "train"),
        splits=", ".join(splits),
        mix=to_markdown(mix_table(counts)),
        reading=to_markdown(reading_table(counts)),
        floors=", ".join(f"{floor:g} ({band})" for band, floor in BAND_FLOORS.items()),
        content=manifest.content,
        plan=manifest.plan_fingerprint[:12],
        secret=manifest.secret_id,
        agent_env=manifest.agent_env[:12],
    )


def _config(name: str, splits: Sequence[str]) -> str:
    """List the files of each split for loaders, so that they never mix splits."""
    lines = [f"- config_name: {name}", *(["  default: true"] if name == "tasks" else []), "  data_files:"]
    return "\n".join([*lines, *(f"  - split: {split}\n    path: public/{name}-{split}-*.parquet" for split in splits)])
