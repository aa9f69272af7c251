"""sandmill gc: remove what no published version needs."""

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sandmill.cli.screen import JsonOption, open_console, size_text, write_json
from sandmill.errors import InputError, Problem, count

if TYPE_CHECKING:
    from sandmill.store.files import Store
    from sandmill.store.garbage import Garbage

EXAMPLES = (
    "Examples: `sandmill gc releases` · `sandmill gc releases/micro --older-than 30d --delete` · "
    "`sandmill gc s3://bucket/releases --json`"
)

_SECONDS = {"d": 86_400, "h": 3_600}


def gc(
    root: Annotated[
        str, typer.Argument(metavar="ROOT", help="Folder or S3 prefix that holds datasets, or one dataset.")
    ],
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove it. Without this option nothing is removed.")
    ] = False,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE", help="Least time since the last write or use: days or hours, as 7d or 36h."
        ),
    ] = "7d",
    as_json: JsonOption = False,
) -> None:
    """List files that belong to no published version; remove them with --delete.

    That is: unfinished writes, unfinished versions, shards (the cache of a build) and kept rejects. A published
    version, secret/ and llm/ are never touched. A shard that is removed is made again if the same build runs again.

    Safe beside a running build: it writes to what it uses, so nothing of it is old. Give --older-than more time than
    your longest build takes. A build that publishes at this moment and gc decide by one atomic write who goes first.
    """
    from sandmill.store.catalogue import find_datasets
    from sandmill.store.garbage import find_garbage, remove_garbage

    seconds = _read_age(older_than)
    found: list[tuple[Store, Garbage]] = []
    for store in find_datasets(root):
        for item in find_garbage(store, seconds):
            if not delete or remove_garbage(store, item, seconds):
                found.append((store, item))
    files, size = sum(len(item.files) for _, item in found), sum(item.bytes for _, item in found)
    if as_json:
        items = [
            {
                "dataset": store.root,
                "kind": item.kind.value,
                "name": item.name,
                "files": len(item.files),
                "bytes": item.bytes,
                "days": round((time.time() - item.modified) / _SECONDS["d"], 2),
            }
            for store, item in found
        ]
        write_json({"root": root, "deleted": delete, "files": files, "bytes": size, "items": items})
        return
    _print(found, f"{count(files, 'file')}, {size_text(size)}", root, delete, older_than)


def _print(found: "list[tuple[Store, Garbage]]", total: str, root: str, delete: bool, age: str) -> None:
    console = open_console()
    if not found:
        console.print(f"{root}: nothing to remove that is older than {age}", soft_wrap=True)
        return
    from sandmill.report.text_tables import TextTable

    rows = []
    for store, item in found:
        days = f"{(time.time() - item.modified) / _SECONDS['d']:.1f}"
        dataset = store.root.rpartition("/")[2]
        rows.append((dataset, item.kind.value, item.name, str(len(item.files)), size_text(item.bytes), days))
    header = ("dataset", "what", "name", "files", "size", "days")
    console.print_table(TextTable("", header, tuple(rows), frozenset({3, 4, 5})))
    word = "Removed" if delete else "Would remove"
    hint = "" if delete else " Nothing was removed; --delete removes it."
    console.print(f"\n{word} {total}.{hint}", soft_wrap=True)


def _read_age(text: str) -> float:
    match = re.fullmatch(r"(\d{1,5})([dh])", text)
    if match is None or int(match[1]) == 0:
        problem = Problem("--older-than", repr(text), "days or hours of at least 1, as 7d or 36h")
        raise InputError("sandmill gc", [problem], "Nothing was removed.")
    return float(int(match[1]) * _SECONDS[match[2]])
