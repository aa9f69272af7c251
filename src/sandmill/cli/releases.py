"""sandmill releases: datasets under a root, and their versions."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import JsonOption, open_console, size_text, write_json
from sandmill.errors import count, shorten

if TYPE_CHECKING:
    from sandmill.store.catalogue import VersionFacts

RELEASES_EXAMPLES = (
    "Examples: `sandmill releases releases` · `sandmill releases s3://bucket/releases micro` · "
    "`sandmill releases releases/micro --json`"
)
_MOST_COUNTS = 6
"""Most bands or kinds that a row of the table names. The others are counted together; --json lists all."""

RootArgument = Annotated[
    str, typer.Argument(metavar="ROOT", help="Folder or S3 prefix that holds datasets, or one dataset.")
]


def releases(
    root: RootArgument,
    dataset: Annotated[str | None, typer.Argument(metavar="DATASET", help="Only this dataset.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List datasets and their versions: date, tasks, bytes, bands and kinds. The latest version is marked with *.

    A version without a manifest is named as unfinished: its build was killed, or publishes now. Run the same build
    again to finish it, or remove its folder.
    """
    from sandmill.store.catalogue import find_datasets, read_versions

    found = [read_versions(store) for store in find_datasets(root, dataset)]
    if as_json:
        write_json({"root": root, "datasets": [one.model_dump(mode="json") for one in found]})
        return
    from sandmill.report.text_tables import TextTable

    console = open_console()
    for number, dataset_found in enumerate(found):
        if number:
            console.print()
        versions = dataset_found.versions
        console.print(f"{dataset_found.place}: {count(len(versions), 'version')}", style="bold", soft_wrap=True)
        if versions:
            rows = tuple(("*" if one.is_latest else "", one.version, *_cells(one)) for one in versions)
            header = ("", "version", "published", "tasks", "size", "bands", "kinds")
            console.print_table(TextTable("", header, rows, frozenset({3, 4})))
        for name in dataset_found.unfinished:
            console.print(f"  {name} is unfinished: it has no manifest, and no reader sees it", soft_wrap=True)


def _cells(one: "VersionFacts") -> tuple[str, ...]:
    if one.problem and not one.created:
        return ("cannot be read", "-", "-", shorten(one.problem, 200), "")
    bands = shorten(one.problem, 200) if one.problem else _counts(one.bands)
    return (shorten(one.created, 25), str(one.tasks), size_text(one.bytes), bands, _counts(one.kinds))


def _counts(counts: dict[str, int]) -> str:
    from sandmill.models.base import Band

    order = {band.value: place for place, band in enumerate(Band)}
    names = sorted(counts, key=lambda name: (order.get(name, len(order)), -counts[name], name))
    shown = names if len(names) <= _MOST_COUNTS else names[: _MOST_COUNTS - 1]
    said = [f"{shorten(name)} {counts[name]}" for name in shown]
    if left := names[len(shown) :]:
        said.append(f"{len(left)} others {sum(counts[name] for name in left)}")
    return ", ".join(said) or "-"
