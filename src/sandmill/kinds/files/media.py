"""Item files in folders or zip archives, with or without tables beside them, and templates of their names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.archives import archive_excess, pack, unpack
from sandmill.kinds.files.base import DESCRIPTION, SAMPLE, Files, Items, Layout, Names, target_word, targets_in_words
from sandmill.kinds.files.item_files import MAX_FILE_BYTES, TEXTS, item_fault
from sandmill.kinds.files.tables import csv_bytes, header_shows_target, read_csv, require_columns, table_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

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
        found = re.findall(r"\{(\w*)\}", self.text)
        if len(set(found)) < len(found) or "id" not in found or not set(found) <= set(_FIELDS):
            raise ValueError(f"a template of file names holds {{id}} once, and no other fields than {_FIELDS}")

    def holds(self, field: str) -> bool:
        """Whether names hold a field."""
        return f"{{{field}}}" in self.text

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Fields in the order of the text."""
        return tuple(re.findall(r"\{(\w+)\}", self.text))

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
        pieces = re.split(r"\{(\w+)\}", self.text)
        return re.compile(
            "".join(
                f"(?P<{piece}>{parts[piece]})" if number % 2 else re.escape(piece)
                for number, piece in enumerate(pieces)
            )
        )

    def described(self, names: dict[str, str]) -> str:
        """Return the template with names of columns in place of fields, such as `<id>.png`."""
        return self.text.format(**{field: f"<{names[field]}>" for field in self.fields})


@cache
def template(text: str) -> NameTemplate:
    """Return a template, made once."""
    return NameTemplate(text)


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


@dataclass(frozen=True)
class _Part:
    """Training or test items: where they are, how many there are, and which columns their table has."""

    table: str | None
    place: str
    name: NameTemplate
    columns: list[str]
    """Columns of the table after the id."""


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
        for _, _, text in self._places:
            template(text)
        if self.train_items == self.test_items and (self.train_name or not self.is_shared or not self.train_table):
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
        return self.train_items == self.test_items and self.train_items.endswith("/")

    @property
    def sorts_ids(self) -> bool:  # type: ignore[override]
        """Files in a folder have no order, so without a table that of their names is the order of the items."""
        tables = {self.train_items: self.train_table, self.test_items: self.test_table}
        return any(place.endswith("/") and not table for place, table in tables.items())

    @property
    def _places(self) -> tuple[tuple[str, str, str], ...]:
        """Places of the training items, of the test items and of their copies: place, part, template."""
        own = ((self.train_items, "train", self.train_name or self.name), (self.test_items, "test", self.name))
        copied = ((copy.train, "train", copy.name) for copy in self.copies)
        return (*own, *copied, *((copy.test, "test", copy.name) for copy in self.copies))

    @property
    def files(self) -> frozenset[str]:
        """Tables, archives, the text of the task and the sample submission."""
        tables = {self.train_table, self.test_table, self.train_only_table} - {None}
        archives = {place for place, _, _ in self._places if not place.endswith("/")}
        return frozenset({DESCRIPTION, self.sample, *archives, *(path for path in tables if path)})

    @property
    def folders(self) -> frozenset[str]:
        """Folders of items."""
        return frozenset(place for place, _, _ in self._places if place.endswith("/"))

    def is_item_file(self, path: str) -> bool:
        """Whether a path has the form of an item's in its folder."""
        return any(
            place.endswith("/")
            and path.startswith(place)
            and template(name).pattern().fullmatch(path.removeprefix(place))
            for place, _, name in self._places
        )

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write tables, and one file for each item.

        Raises:
            ValueError: if an id, a label or a cell cannot be part of a file name, or a cell has no place.
        """
        _, *shown, column = test.columns
        only = [name for name in train.columns if name not in {*test.columns, *facts.target_columns}]
        files = self.write_tables(train.drop(column), test.drop(column), facts, tuple(shown), tuple(only))
        contents = [*_as_bytes(train[column]), *_as_bytes(test[column])]
        files |= self._lay(self.train_items, self.train_name or self.name, train, contents[: train.height], facts)
        files |= self._lay(self.test_items, self.name, test, contents[train.height :], facts)
        for copy in self.copies:
            copied = copy.encode(contents)
            files |= self._lay(copy.train, copy.name, train, copied[: train.height], facts)
            files |= self._lay(copy.test, copy.name, test, copied[train.height :], facts)
        return files

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read tables and files, and match them by id."""
        faults: list[str] = []
        *shown, column = features
        tables = self.read_tables(public, facts, tuple(shown), only_in_training, faults)
        found = [self._find(public, place, name, facts, shown, faults) for place, _, name in self._places[:2]]
        if self.is_shared and tables[0] is not None:
            in_train = pl.col(facts.id_column).is_in(tables[0][facts.id_column].to_list())
            found = [found[0].filter(in_train), found[0].filter(~in_train)]
        train, test = (
            _matched(table, items, facts.id_column, path, self.item, faults)
            for table, items, path in zip(tables, found, (self.train, self.test), strict=True)
        )
        if self.copies and not faults:
            self._check_copies(public, (train, test), facts, faults)
        order = [facts.id_column, *shown, *only_in_training, "content", *facts.target_columns]
        frames = (_typed(frame, order, self.name, faults).rename({"content": column}) for frame in (train, test))
        train, test = frames
        return Items(train, test, tuple(faults))

    def write_tables(
        self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts, shown: Names, only: Names
    ) -> dict[str, bytes]:
        """Write the tables of both parts, given without the items themselves."""
        parts = self._parts(facts, shown, only)
        tables = {
            part.table: csv_bytes(frame.select(facts.id_column, *part.columns))
            for part, frame in zip(parts, (train, test), strict=True)
            if part.table
        }
        if self.train_only_table:
            tables[self.train_only_table] = csv_bytes(train.select(facts.id_column, *only))
        return tables

    def read_tables(
        self, public: Files, facts: TaskFacts, shown: Names, only: Names, faults: list[str]
    ) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
        """Read what `write_tables` wrote: the table of each part, None where it has none or it is not sound."""
        found: list[pl.DataFrame | None] = []
        for part in self._parts(facts, shown, only):
            found.append(_table(public, part.table, [facts.id_column, *part.columns], faults) if part.table else None)
        if self.train_only_table:
            more = _table(public, self.train_only_table, [facts.id_column, *only], faults)
            if found[0] is None:
                found[0] = more
            elif more is not None:
                if not more[facts.id_column].equals(found[0][facts.id_column]):
                    faults.append(f"{self.train_only_table}: its ids are not those of {self.train} in the same order")
                else:
                    found[0] = found[0].hstack(more.drop(facts.id_column))
        return found[0], found[1]

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count rows, files, bytes, pixels and samples."""
        counts = {"train": sizes.train, "test": sizes.feedback + sizes.final}
        rows = {self.train_table: "train", self.train_only_table: "train", self.test_table: "test"}
        for path, part in rows.items():
            if path:
                yield from table_excess(path, public[path], counts[part])
        places = {place: counts[part] for place, part, _ in self._places}
        if self.is_shared:
            places[self.train_items] = sum(counts.values())
        places |= {copy.train: sum(counts.values()) for copy in self.copies if copy.train == copy.test}
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
        plain, in_name = template(self.name).pattern(), template(self.train_name or self.name)
        labelled = in_name.pattern(facts.classes) if in_name.holds("label") and facts.classes else None
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
        in_name = template(self.train_name or self.name).holds("label")
        if self.is_shared:
            rows.append((self.train_items, f"the {self.item}s of both parts, {named[self.train_items]}"))
        else:
            told = "" if not in_name else ": the name holds the target"
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
        return {place: f"each named `{template(name).described(names)}`" for place, _, name in self._places}

    def _parts(self, facts: TaskFacts, shown: Names, only: Names) -> tuple[_Part, _Part]:
        """Say which columns each table has: those that no file name holds."""
        parts = []
        for table, place, text, is_train in (
            (self.train_table, self.train_items, self.train_name or self.name, True),
            (self.test_table, self.test_items, self.name, False),
        ):
            name = template(text)
            cells = () if name.holds("shown") else shown
            if is_train and not self.train_only_table:
                cells = (*cells, *only)
            targets = facts.target_columns if is_train and not name.holds("label") else ()
            if (cells or targets) and not table:
                raise ValueError(f"no table of the layout holds {', '.join((*cells, *targets))}")
            parts.append(_Part(table, place, name, [*cells, *targets]))
        return parts[0], parts[1]

    def _lay(
        self, place: str, name: str, frame: pl.DataFrame, contents: list[bytes], facts: TaskFacts
    ) -> dict[str, bytes]:
        form = template(name)
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": frame.columns[1]}
        values = zip(*(frame[columns[part]].cast(pl.String).to_list() for part in form.fields), strict=True)
        names = [form.fill(dict(zip(form.fields, row, strict=True))) for row in values]
        files = list(zip(names, contents, strict=True))
        if len(set(names)) < len(names):
            raise ValueError("two items have the same file name")
        return {place + name: content for name, content in files} if place.endswith("/") else {place: pack(files)}

    def _listed(self, public: Files, place: str, faults: list[str]) -> list[tuple[str, bytes]]:
        if not place.endswith("/"):
            return unpack(public, place, faults)
        return [(path.removeprefix(place), public[path]) for path in sorted(public) if path.startswith(place)]

    def _find(
        self, public: Files, place: str, name: str, facts: TaskFacts, shown: list[str], faults: list[str]
    ) -> pl.DataFrame:
        """Read the files of a place as a table: the parts of their names, and content."""
        form = template(name)
        columns = {"id": facts.id_column, "label": facts.target_column, "shown": shown[0] if shown else "shown"}
        schema = {columns[part]: pl.String for part in form.fields} | {"content": pl.Binary}
        pattern = form.pattern(facts.classes)
        found = [(pattern.fullmatch(path), path, content) for path, content in self._listed(public, place, faults)]
        if strange := [path for match, path, _ in found if not match]:
            faults.append(f"{place}: files with names of another form ({name_some(strange)})")
        rows = [(*match.groups(), content) for match, _, content in found if match]
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        if frame[facts.id_column].n_unique() < frame.height:
            faults.append(f"{place}: several files of one id")
        return frame.sort(facts.id_column) if place.endswith("/") else frame

    def _check_copies(self, public: Files, parts: Sequence[pl.DataFrame], facts: TaskFacts, faults: list[str]) -> None:
        train, test = parts
        contents = [*train["content"], *test["content"]]
        for copy in self.copies:
            copied = copy.encode(contents)
            expected = self._lay(copy.train, copy.name, train, copied[: train.height], facts)
            expected |= self._lay(copy.test, copy.name, test, copied[train.height :], facts)
            places = (copy.train, copy.test)
            there = {path for path in public if path in places or path.startswith(places)}
            if odd := sorted({path for path in there | expected.keys() if public.get(path) != expected.get(path)}):
                faults.append(f"{copy.train} and {copy.test}: files that are no copies ({name_some(odd)})")


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


def _as_bytes(cells: pl.Series) -> list[bytes]:
    return [cell.encode() if isinstance(cell, str) else bytes(cell) for cell in cells]
