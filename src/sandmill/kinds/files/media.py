"""Item files in folders or zip archives, with or without tables beside them, and templates of their names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.archives import archive_excess, pack, unpack
from sandmill.kinds.files.base import SAMPLE, Fault, Files, Layout, Names, Parts
from sandmill.kinds.files.item_files import MAX_FILE_BYTES, TEXTS, item_fault
from sandmill.kinds.files.tables import csv_bytes, header_shows_target, table_excess, table_with
from sandmill.models.layout import public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes
from sandmill.models.texts import DESCRIPTION

SHOWN_CELL = "<cell>"
"""What stands for the column of `{shown}` in descriptions of names, since layouts do not know which it is."""
_PLAIN, _DOTTED = "[A-Za-z0-9_][A-Za-z0-9_-]*", "[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""Patterns of a part of a name, so that it is a plain file name on every system. Ids that are whole file names have
dots."""


@dataclass(frozen=True)
class NameTemplate:
    """Text with `{id}`, and perhaps with `{label}` and `{shown}`: the target, and the only cell beside the item."""

    text: str

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Fields in the order of the text."""
        return tuple(re.findall(r"\{(\w*)\}", self.text))

    def fill(self, values: dict[str, str]) -> str:
        """Return the name of one item.

        Raises:
            ValueError: if a value cannot be part of a file name.
        """
        name, wanted = self.text.format(**values), {field: values[field] for field in self.fields}
        match = self.pattern([values["label"]] if "label" in wanted else ()).fullmatch(name)
        if match is None or match.groupdict() != wanted:
            raise ValueError(f"{' and '.join(map(repr, wanted.values()))} cannot be parts of a file name")
        return name

    def pattern(self, labels: Sequence[str] = ()) -> re.Pattern[str]:
        """Return the pattern of names. Longer labels come first, so that each is read whole.

        Args:
            labels: values that the label has; any if there are none.
        """
        named = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        plain = _PLAIN if "." in re.sub(r"\{\w+\}", "", self.text) else _DOTTED
        parts = {"id": plain, "label": named or "[A-Za-z0-9_]+", "shown": "[A-Za-z0-9-]+"}
        groups = {field: f"(?P<{field}>{parts[field]})" for field in self.fields}
        return re.compile(re.escape(self.text).replace(r"\{", "{").replace(r"\}", "}").format(**groups))

    def described(self, names: dict[str, str]) -> str:
        """Return the template with names of columns in place of fields, such as `<id>.png`."""
        return self.text.format(**{field: f"<{names[field]}>" for field in self.fields})


@cache
def template(text: str) -> NameTemplate:
    """Return a template, made once."""
    return NameTemplate(text)


@dataclass(frozen=True)
class Part:
    """Training or test items, or copies of them."""

    table: str | None
    place: str
    """Folder or archive."""
    name: NameTemplate
    is_train: bool


@dataclass(frozen=True)
class Copies:
    """The same items once more, in another encoding."""

    train: str
    """Folder or archive of the training items."""
    test: str
    name: str
    """Template of the names."""
    encode: Callable[[list[bytes]], list[bytes]]
    """Turns the contents of all items, training items first, into those of the copies."""

    @cached_property
    def parts(self) -> tuple[Part, Part]:
        """Where the copies of the training items and of the test items are."""
        name = template(self.name)
        return Part(None, self.train, name, is_train=True), Part(None, self.test, name, is_train=False)


@dataclass(frozen=True)
class MediaFiles(Layout):
    """One file for each item. A place that ends in `/` is a folder, another one a zip archive.

    The last feature column holds the contents of the files, and the columns before it are cells of tables.
    """

    train_items: str
    """Folder or archive of the training items."""
    test_items: str
    """Folder or archive of the test items. It may be the folder of the training items."""
    name: str
    """Template of file names, see `NameTemplate`."""
    train_name: str | None = None
    """Template of the names of training items if it is another, such as one with the label."""
    train_table: str | None = "train.csv"
    """Table of ids, cells and targets of the training items. None: the names of files hold all of it."""
    test_table: str | None = None
    """Table of ids and cells of the test items."""
    train_only_table: str | None = None
    item: str = "picture"
    cell: str = "PNG picture"
    sample: str = SAMPLE
    shown: str = "cell"
    """What a description calls the cell in the names of files."""
    copies: tuple[Copies, ...] = ()

    @property
    def train(self) -> str:
        """The table of the training items, or their place."""
        return self.train_table or self.train_items

    @property
    def test(self) -> str:
        """The table of the test items, or their place."""
        return self.test_table or self.test_items

    @property
    def is_shared(self) -> bool:
        """Whether one folder holds the items of both parts."""
        return self.train_items == self.test_items and self.train_items.endswith("/") and bool(self.train_table)

    @property
    def sorts_ids(self) -> bool:  # type: ignore[override]
        """Files in a folder have no order, so without a table that of their names is the order of the items."""
        tables = {part.place: part.table for part in self.places[:2]}
        return any(place.endswith("/") and not table for place, table in tables.items())

    @cached_property
    def places(self) -> tuple[Part, ...]:
        """Where the training items, the test items and copies of both are."""
        return (
            Part(self.train_table, self.train_items, template(self.train_name or self.name), is_train=True),
            Part(self.test_table, self.test_items, template(self.name), is_train=False),
            *(part for copy in self.copies for part in copy.parts),
        )

    @property
    def files(self) -> frozenset[str]:
        """Tables, archives, the text of the task and the sample submission."""
        tables = {self.train_table, self.test_table, self.train_only_table} - {None}
        archives = {part.place for part in self.places if not part.place.endswith("/")}
        return frozenset({DESCRIPTION, self.sample, *archives, *(path for path in tables if path)})

    @property
    def folders(self) -> frozenset[str]:
        """Folders of items."""
        return frozenset(part.place for part in self.places if part.place.endswith("/"))

    def is_item_file(self, path: str) -> bool:
        """Whether a path has the form of an item's in its folder."""
        return any(
            path.startswith(part.place) and part.name.pattern().fullmatch(path.removeprefix(part.place))
            for part in self.places
            if part.place.endswith("/")
        )

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write tables, and one file for each item.

        Raises:
            ValueError: if an id, a label or a cell cannot be part of a file name, or a cell has no place.
        """
        _, *shown, column = test.columns
        only = tuple(name for name in train.columns if name not in {*test.columns, *facts.target_columns})
        files = {}
        for part, frame in zip(self.places[:2], (train, test), strict=True):
            columns = self._columns(part, facts, tuple(shown), only)
            if part.table:
                files[part.table] = csv_bytes(frame.select(facts.id_column, *columns))
        if self.train_only_table:
            files[self.train_only_table] = csv_bytes(train.select(facts.id_column, *only))
        contents = [cell.encode() if isinstance(cell, str) else bytes(cell) for cell in (*train[column], *test[column])]
        return files | self._lay_all((train, test), contents, facts)

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read tables and files, and match them by id."""
        *shown, column = features
        name, frames = facts.id_column, list[pl.DataFrame]()
        for part in self.places[:2]:
            items = self._find(public, part, facts, shown)
            if part.table:
                columns = self._columns(part, facts, tuple(shown), only_in_training)
                table = table_with(public, part.table, [name, *columns])
                if self.train_only_table and not frames:
                    more = table_with(public, self.train_only_table, [name, *only_in_training])
                    if not more[name].equals(table[name]):
                        raise Fault(f"{self.train_only_table}: its ids are not those of {part.table} in the same order")
                    table = table.hstack(more.drop(name))
                if self.is_shared:
                    in_train = pl.col(name).is_in([*frames, table][0][name].to_list())
                    items = items.filter(~in_train if frames else in_train)
                items = _matched(table, items, name, part.table, self.item)
            frames.append(items)
        if self.copies:
            expected = self._lay_all(frames, [content for frame in frames for content in frame["content"]], facts)
            there = {path for path in public if path.startswith(tuple(part.place for part in self.places))}
            if odd := sorted(path for path in there | expected.keys() if public.get(path) != expected.get(path)):
                raise Fault(f"{self.copies[0].train}: files that are no copies ({name_some(odd)})")
        order = [name, *shown, *only_in_training, "content", *facts.target_columns]
        train, test = (_typed(frame, order, self.name).rename({"content": column}) for frame in frames)
        return train, test

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count rows, files, bytes, pixels and samples."""
        counts = {"train": sizes.train, "test": sizes.feedback + sizes.final}
        rows = {self.train_table: "train", self.train_only_table: "train", self.test_table: "test"}
        for path, part in rows.items():
            if path:
                yield from table_excess(path, public[path], counts[part])
        places: dict[str, int] = {}
        for one in self.places:
            places[one.place] = places.get(one.place, 0) + counts["train" if one.is_train else "test"]
        for place, items in places.items():
            if place.endswith("/"):
                yield from folder_excess(public, place, items)
            else:
                yield from archive_excess(place, public[place], items)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target in the header of the test table, and for test files whose names hold more than theirs."""
        if self.test_table and header_shows_target(public[self.test_table], facts):
            return True
        try:
            names = [name for name, _ in _listed(public, self.test_items)]
        except Fault:
            return True
        plain, in_name = self.places[1].name.pattern(), self.places[0].name
        labelled = in_name.pattern(facts.classes) if "label" in in_name.fields and facts.classes else None
        return any(not plain.fullmatch(name) or (labelled and labelled.fullmatch(name)) for name in names)

    def told(self, facts: TaskFacts, sizes: Sizes) -> dict[str, str]:
        """Say what each place of items holds, and what the names of the files mean."""
        names = {"id": facts.id_column, "label": facts.target_column, "shown": SHOWN_CELL.strip("<>")}
        target = f", so that the name holds the target `{facts.target_column}`"
        named = {
            part.place: f"each named `{part.name.described(names)}`{target if 'label' in part.name.fields else ''}"
            for part in self.places
        }
        told = {path: "" for path in (self.train_table, self.test_table) if path}
        for table, place in ((self.train_table, self.train_items), (self.test_table, self.test_items)):
            if self.is_shared:
                told[place] = f"the {self.item}s of both parts, {named[place]}"
            elif table:
                told[place] = f"the {self.item}s of `{table}`, {named[place]}"
            else:
                told[place] = named[place]
        if self.train_only_table:
            told[self.train_only_table] = f"what is known of the training {self.item}s alone"
        again = [pair for one in self.copies for pair in ((one.train, self.train_items), (one.test, self.test_items))]
        of = f"the {self.item}s of `{{}}` in another encoding"
        return told | {place: f"{of.format(public_path(first))}, {named[place]}" for place, first in again}

    def _columns(self, part: Part, facts: TaskFacts, shown: Names, only: Names) -> list[str]:
        """Say which columns the table of a part has beside ids: those that no file name holds."""
        cells = () if "shown" in part.name.fields else shown
        if part.is_train and not self.train_only_table:
            cells = (*cells, *only)
        targets = facts.target_columns if part.is_train and "label" not in part.name.fields else ()
        if (cells or targets) and not part.table:
            raise ValueError(f"no table of the layout holds {', '.join((*cells, *targets))}")
        return [*cells, *targets]

    def _lay(self, part: Part, frame: pl.DataFrame, contents: Iterable[bytes], facts: TaskFacts) -> dict[str, bytes]:
        """Return the files of a part."""
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": frame.columns[1]}
        values = zip(*(frame[columns[field]].cast(pl.String).to_list() for field in part.name.fields), strict=True)
        names = [part.name.fill(dict(zip(part.name.fields, row, strict=True))) for row in values]
        files = list(zip(names, contents, strict=True))
        if len(set(names)) < len(names):
            raise ValueError("two items have the same file name")
        if not part.place.endswith("/"):
            return {part.place: pack(files)}
        return {part.place + name: content for name, content in files}

    def _lay_all(self, frames: Sequence[pl.DataFrame], contents: list[bytes], facts: TaskFacts) -> dict[str, bytes]:
        """Return the files of both parts, and all copies; the contents of training items come first."""
        files: dict[str, bytes] = {}
        for parts, encode in ((self.places[:2], list), *((copy.parts, copy.encode) for copy in self.copies)):
            encoded = iter(encode(contents))
            for part, frame in zip(parts, frames, strict=True):
                files |= self._lay(part, frame, islice(encoded, frame.height), facts)
        return files

    def _find(self, public: Files, part: Part, facts: TaskFacts, shown: list[str]) -> pl.DataFrame:
        """Read the files of a place as a table: the parts of their names, and content."""
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": shown[0] if shown else "shown"}
        schema = {columns[field]: pl.String for field in part.name.fields} | {"content": pl.Binary}
        pattern = part.name.pattern(facts.classes)
        found = [(pattern.fullmatch(path), path, content) for path, content in _listed(public, part.place)]
        if strange := [path for match, path, _ in found if not match]:
            raise Fault(f"{part.place}: files with names of another form ({name_some(strange)})")
        rows = [(*match.groups(), content) for match, _, content in found if match]
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        if frame[facts.id_column].n_unique() < frame.height:
            raise Fault(f"{part.place}: several files of one id")
        return frame.sort(facts.id_column) if part.place.endswith("/") else frame


def _listed(public: Files, place: str) -> list[tuple[str, bytes]]:
    """Return names and contents of the files in a folder, which ends with a slash, or in an archive."""
    if not place.endswith("/"):
        return unpack(public, place)
    return [(path.removeprefix(place), public[path]) for path in sorted(public) if path.startswith(place)]


def _matched(table: pl.DataFrame, items: pl.DataFrame, id_column: str, path: str, item: str) -> pl.DataFrame:
    """Put the rows of a table beside their items, in the order of the table."""
    listed, there = table[id_column], items[id_column]
    for told, ids in (
        (f"{item}s without a file", set(listed) - set(there)),
        (f"files of {item}s that it does not list", set(there) - set(listed)),
        (f"several rows of one {item}", set(listed.filter(listed.is_duplicated()))),
    ):
        if ids:
            raise Fault(f"{path}: {told} ({name_some(sorted(map(str, ids)))})")
    return table.join(items, on=id_column, how="left", maintain_order="left")


def _typed(frame: pl.DataFrame, order: list[str], name: str) -> pl.DataFrame:
    """Put columns into the order in which they were written, and read contents as text where they are."""
    frame = frame.select(name for name in order if name in frame.columns)
    if name.rpartition(".")[2] not in TEXTS:
        return frame
    try:
        return frame.with_columns(pl.Series("content", [content.decode() for content in frame["content"]]))
    except UnicodeDecodeError as error:
        raise Fault(f"files that are no UTF-8 text ({error.reason} at byte {error.start})") from error


def folder_excess(public: Files, folder: str, items: int) -> Iterator[str]:
    """Say why a folder holds other numbers of items, more bytes or larger items than a micro task's."""
    found = {path: content for path, content in public.items() if path.startswith(folder)}
    if len(found) != items:
        yield f"{folder} has {len(found)} files; its design has {items}"
    if (size := sum(map(len, found.values()))) > MAX_FILE_BYTES:
        yield f"{folder} has {size} bytes; the most is {MAX_FILE_BYTES}"
        return
    faults = (fault for path, content in found.items() if (fault := item_fault(path, content)))
    if fault := next(faults, None):
        yield f"{folder} holds {fault}"
