"""Item files in folders or zip archives, with or without tables beside them, and templates of their names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.archives import archive_excess, pack, unpack
from sandmill.kinds.files.base import SAMPLE, Files, Items, Layout, Names, target_word, targets_in_words
from sandmill.kinds.files.item_files import MAX_FILE_BYTES, TEXTS, item_fault
from sandmill.kinds.files.tables import csv_bytes, header_shows_target, read_csv, require_columns, table_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes
from sandmill.models.texts import DESCRIPTION

_FIELDS = ("id", "label", "shown")
SHOWN_CELL = "<cell>"
"""What stands for the column of `{shown}` in descriptions of names, since layouts do not know which it is."""
_PLAIN, _DOTTED = "[A-Za-z0-9_][A-Za-z0-9_-]*", "[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""Patterns of a part of a name, so that it is a plain file name on every system. Ids that are whole file names have
dots."""


@dataclass(frozen=True)
class NameTemplate:
    """Text with `{id}`, and perhaps `{label}` and `{shown}`, each at most once."""

    text: str

    def __post_init__(self) -> None:
        found = self.fields
        if len(set(found)) < len(found) or "id" not in found or not set(found) <= set(_FIELDS):
            raise ValueError(f"a template of file names holds {{id}} once, and no other fields than {_FIELDS}")

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

    @property
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
    """Table of the columns that test items do not have. None: they are in the table of the training items."""
    item: str = "picture"
    cell: str = "PNG picture"
    sample: str = SAMPLE
    shown: str = "cell"
    """What a description calls the cell in the names of files."""
    copies: tuple[Copies, ...] = ()
    tells_names: bool = True
    """Whether descriptions always say how the files are named, not only those without a style."""

    def __post_init__(self) -> None:
        # Wrong templates raise an error here.
        if self.places[0].place == self.places[1].place and (self.train_name or not self.is_shared):
            raise ValueError("items of both parts can share a folder, not an archive, if a table tells them apart")

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
        files |= self._lay_both(self.places[:2], (train, test), contents, facts)
        for copy in self.copies:
            files |= self._lay_both(copy.parts, (train, test), copy.encode(contents), facts)
        return files

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read tables and files, and match them by id."""
        faults: list[str] = []
        *shown, column = features
        parts = self.places[:2]
        tables = [
            _table(public, part.table, [facts.id_column, *columns], faults) if part.table else None
            for part in parts
            for columns in [self._columns(part, facts, tuple(shown), only_in_training)]
        ]
        tables[0] = self._with_training_only(public, tables[0], facts, only_in_training, faults)
        found = [self._find(public, part, facts, shown, faults) for part in parts]
        if self.is_shared and tables[0] is not None:
            in_train = pl.col(facts.id_column).is_in(tables[0][facts.id_column].to_list())
            found = [found[0].filter(in_train), found[0].filter(~in_train)]
        train, test = (
            _matched(table, items, facts.id_column, path, self.item, faults)
            for table, items, path in zip(tables, found, (self.train, self.test), strict=True)
        )
        if self.copies and not faults:
            faults += self._copy_faults(public, (train, test), facts)
        order = [facts.id_column, *shown, *only_in_training, "content", *facts.target_columns]
        train, test = (_typed(frame, order, self.name, faults).rename({"content": column}) for frame in (train, test))
        return Items(train, test, tuple(faults))

    def _with_training_only(
        self, public: Files, table: pl.DataFrame | None, facts: TaskFacts, only: Names, faults: list[str]
    ) -> pl.DataFrame | None:
        """Put the columns that test items do not have beside the others of the training table."""
        if not self.train_only_table:
            return table
        more = _table(public, self.train_only_table, [facts.id_column, *only], faults)
        if table is None or more is None:
            return more if table is None else table
        if not more[facts.id_column].equals(table[facts.id_column]):
            faults.append(f"{self.train_only_table}: its ids are not those of {self.train} in the same order")
            return table
        return table.hstack(more.drop(facts.id_column))

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
                yield from archive_excess(place, public[place], items, self.item)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target in the header of the test table, and for test files whose names hold more than theirs."""
        if self.test_table and header_shows_target(public[self.test_table], facts):
            return True
        faults: list[str] = []
        names = [name for name, _ in self._listed(public, self.test_items, faults)]
        plain, in_name = self.places[1].name.pattern(), self.places[0].name
        labelled = in_name.pattern(facts.classes) if "label" in in_name.fields and facts.classes else None
        is_odd = (not plain.fullmatch(name) or bool(labelled and labelled.fullmatch(name)) for name in names)
        return bool(faults) or any(is_odd)

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Say what each table and each place of items holds, and what the names of the files mean."""
        trained, tested = f"{sizes.train} {self.item}s", f"{sizes.feedback + sizes.final} {self.item}s to predict"
        named = self._naming(facts)
        rows = [
            (self.train_table, f"{trained} with the {targets_in_words(facts)}"),
            (self.test_table, f"{tested}, without the {target_word(facts)}"),
        ]
        if self.is_shared:
            rows.append((self.train_items, f"the {self.item}s of both parts, {named[self.train_items]}"))
        else:
            told = ": the name holds the target" if "label" in self.places[0].name.fields else ""
            first = f"the {self.item}s of `{self.train_table}`" if self.train_table else trained
            last = f"the {self.item}s of `{self.test_table}`" if self.test_table else tested
            rows += [
                (self.train_items, f"{first}, {named[self.train_items]}{told}"),
                (self.test_items, f"{last}, {named[self.test_items]}"),
            ]
        rows.append((self.train_only_table, f"what is known of the training {self.item}s alone"))
        for copy in self.copies:
            for place in dict.fromkeys((copy.train, copy.test)):
                rows.append((place, f"the same {self.item}s in another encoding, {named[place]}"))
        return [(path, said) for path, said in rows if path]

    def naming(self, facts: TaskFacts) -> Mapping[str, str]:
        """Say how the files of each place are named."""
        return self._naming(facts) if self.tells_names else {}

    def _naming(self, facts: TaskFacts) -> dict[str, str]:
        names = {"id": facts.id_column, "label": facts.target_column, "shown": SHOWN_CELL.strip("<>")}
        return {part.place: f"each named `{part.name.described(names)}`" for part in self.places}

    def _columns(self, part: Part, facts: TaskFacts, shown: Names, only: Names) -> list[str]:
        """Say which columns the table of a part has beside ids: those that no file name holds."""
        cells = () if "shown" in part.name.fields else shown
        if part.is_train and not self.train_only_table:
            cells = (*cells, *only)
        targets = facts.target_columns if part.is_train and "label" not in part.name.fields else ()
        if (cells or targets) and not part.table:
            raise ValueError(f"no table of the layout holds {', '.join((*cells, *targets))}")
        return [*cells, *targets]

    def _lay_both(
        self, parts: Sequence[Part], frames: Sequence[pl.DataFrame], contents: list[bytes], facts: TaskFacts
    ) -> dict[str, bytes]:
        """Return the files of both parts; the contents of training items come first."""
        rows, (train, test) = frames[0].height, parts
        files = self._lay(train, frames[0], contents[:rows], facts)
        return files | self._lay(test, frames[1], contents[rows:], facts)

    def _lay(self, part: Part, frame: pl.DataFrame, contents: list[bytes], facts: TaskFacts) -> dict[str, bytes]:
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": frame.columns[1]}
        values = zip(*(frame[columns[field]].cast(pl.String).to_list() for field in part.name.fields), strict=True)
        names = [part.name.fill(dict(zip(part.name.fields, row, strict=True))) for row in values]
        files = list(zip(names, contents, strict=True))
        if len(set(names)) < len(names):
            raise ValueError("two items have the same file name")
        if not part.place.endswith("/"):
            return {part.place: pack(files)}
        return {part.place + name: content for name, content in files}

    def _listed(self, public: Files, place: str, faults: list[str]) -> list[tuple[str, bytes]]:
        if not place.endswith("/"):
            return unpack(public, place, faults)
        return [(path.removeprefix(place), public[path]) for path in sorted(public) if path.startswith(place)]

    def _find(self, public: Files, part: Part, facts: TaskFacts, shown: list[str], faults: list[str]) -> pl.DataFrame:
        """Read the files of a place as a table: the parts of their names, and content."""
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": shown[0] if shown else "shown"}
        schema = {columns[field]: pl.String for field in part.name.fields} | {"content": pl.Binary}
        pattern = part.name.pattern(facts.classes)
        listed = self._listed(public, part.place, faults)
        found = [(pattern.fullmatch(path), path, content) for path, content in listed]
        if strange := [path for match, path, _ in found if not match]:
            faults.append(f"{part.place}: files with names of another form ({name_some(strange)})")
        rows = [(*match.groups(), content) for match, _, content in found if match]
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        if frame[facts.id_column].n_unique() < frame.height:
            faults.append(f"{part.place}: several files of one id")
        return frame.sort(facts.id_column) if part.place.endswith("/") else frame

    def _copy_faults(self, public: Files, frames: Sequence[pl.DataFrame], facts: TaskFacts) -> Iterator[str]:
        contents = [content for frame in frames for content in frame["content"]]
        for copy in self.copies:
            expected = self._lay_both(copy.parts, frames, copy.encode(contents), facts)
            places = (copy.train, copy.test)
            there = {path for path in public if path in places or path.startswith(places)}
            if odd := sorted(path for path in there | expected.keys() if public.get(path) != expected.get(path)):
                yield f"{copy.train} and {copy.test}: files that are no copies ({name_some(odd)})"


def _table(public: Files, path: str, columns: list[str], faults: list[str]) -> pl.DataFrame | None:
    known = len(faults)
    table = read_csv(public, path, faults)
    require_columns(path, table, columns, faults)
    return table if len(faults) == known else None


def _matched(
    table: pl.DataFrame | None, items: pl.DataFrame, id_column: str, path: str, item: str, faults: list[str]
) -> pl.DataFrame:
    """Put the rows of a table beside their items, in the order of the table."""
    if table is None:
        return items
    listed, there = table[id_column], items[id_column]
    for told, ids in (
        (f"{item}s without a file", set(listed) - set(there)),
        (f"files of {item}s that it does not list", set(there) - set(listed)),
    ):
        if ids:
            faults.append(f"{path}: {told} ({name_some(sorted(map(str, ids)))})")
    if listed.n_unique() < listed.len() or there.n_unique() < there.len():
        faults.append(f"{path}: several rows or files of one {item}")
    return table.join(items, on=id_column, how="left", maintain_order="left")


def _typed(frame: pl.DataFrame, order: list[str], name: str, faults: list[str]) -> pl.DataFrame:
    """Put columns into the order in which they were written, and read contents as text where they are."""
    frame = frame.select(name for name in order if name in frame.columns)
    if name.rpartition(".")[2] not in TEXTS:
        return frame
    try:
        texts = [None if content is None else content.decode() for content in frame["content"]]
    except UnicodeDecodeError as error:
        faults.append(f"files that are no UTF-8 text ({error.reason} at byte {error.start})")
        texts = [None] * frame.height
    return frame.with_columns(pl.Series("content", texts, dtype=pl.String))


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
