"""sandmill releases and gc: datasets under a root, and what no version needs."""

import re
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

from sandmill.cli.screen import JsonOption, open_console, option, switch, write_json
from sandmill.errors import InputError, Problem, count, name_some, shorten

if TYPE_CHECKING:
    from sandmill.store.catalogue import VersionFacts

_MOST_COUNTS = 6
"""Most bands or kinds that a row of the table names; --json lists all."""
_SECONDS = {"d": 86_400, "h": 3_600}


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
    again to finish it, or remove it with `sandmill gc`.
    """
    from sandmill.store.catalogue import find_datasets, read_versions

    found = [read_versions(store) for store in find_datasets(root, dataset)]
    if as_json:
        write_json({"root": root, "datasets": [one.model_dump(mode="json") for one in found]})
        return
    console = open_console()
    for number, dataset_found in enumerate(found):
        if number:
            console.print()
        versions = dataset_found.versions
        console.print(f"{dataset_found.place}: {count(len(versions), 'version')}", style="bold")
        if versions:
            rows = (("*" if one.is_latest else "", one.version, *_cells(one)) for one in versions)
            console.print_rows(("", "version", "published", "tasks", "size", "bands", "kinds"), rows, (3, 4))
        for name in dataset_found.unfinished:
            console.print(f"  {name} is unfinished: it has no manifest, and no reader sees it")


def _cells(one: "VersionFacts") -> tuple[str, ...]:
    if one.problem and not one.created:
        return ("cannot be read", "-", "-", shorten(one.problem, 200), "")
    bands = shorten(one.problem, 200) if one.problem else _counts(one.bands)
    return (shorten(one.created, 25), str(one.tasks), decimal(one.bytes), bands, _counts(one.kinds))


def _counts(counts: dict[str, int]) -> str:
    from sandmill.models.base import Band

    order = {band.value: place for place, band in enumerate(Band)}
    names = sorted(counts, key=lambda name: (order.get(name, len(order)), -counts[name], name))
    return name_some((f"{shorten(name)} {counts[name]}" for name in names), _MOST_COUNTS) or "-"


def gc(
    root: RootArgument,
    delete: Annotated[bool, switch("--delete", "Remove it. Without this option nothing is removed.")] = False,
    older_than: Annotated[
        str, option("AGE", "Least time since the last write or use: days or hours, as 7d or 36h.")
    ] = "7d",
    as_json: JsonOption = False,
) -> None:
    """List files that belong to no published version; remove them with --delete.

    That is: unfinished versions and shards (the cache of a build). A published
    version, secret/ and llm/ are never touched. A shard that is removed is made again if the same build runs again.

    Safe beside a running build: it writes to what it uses, so nothing of it is old. Give --older-than more time than
    your longest build takes. A build that publishes at this moment and gc decide by one atomic write who goes first.
    """
    from sandmill.store.catalogue import find_datasets
    from sandmill.store.garbage import find_garbage, remove_garbage

    age = re.fullmatch(r"(\d{1,5})([dh])", older_than)
    if age is None or int(age[1]) == 0:
        problem = Problem("--older-than", repr(older_than), "days or hours of at least 1, as 7d or 36h")
        raise InputError("sandmill gc", [problem], "Nothing was removed.")
    seconds, now = float(int(age[1]) * _SECONDS[age[2]]), time.time()
    items: list[dict[str, Any]] = []
    for store in find_datasets(root):
        for item in find_garbage(store, seconds):
            if not delete or remove_garbage(store, item, seconds):
                named = {"dataset": store.root, "kind": item.kind.value, "name": item.name}
                days = round((now - item.modified) / _SECONDS["d"], 2)
                items.append({**named, "files": len(item.files), "bytes": item.bytes, "days": days})
    files, size = sum(facts["files"] for facts in items), sum(facts["bytes"] for facts in items)
    if as_json:
        write_json({"root": root, "deleted": delete, "files": files, "bytes": size, "items": items})
        return
    console = open_console()
    if not items:
        console.print(f"{root}: nothing to remove that is older than {older_than}")
        return
    for facts in items:
        facts |= {"dataset": facts["dataset"].rpartition("/")[2], "bytes": decimal(facts["bytes"])}
    rows = (tuple(map(str, facts.values())) for facts in items)
    console.print_rows(("dataset", "what", "name", "files", "size", "days"), rows, (3, 4, 5))
    word, hint = ("Removed", "") if delete else ("Would remove", " Nothing was removed; --delete removes it.")
    console.print(f"\n{word} {count(files, 'file')}, {decimal(size)}.{hint}")
