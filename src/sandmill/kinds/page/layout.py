"""Folders of pictures, of a second picture for each training picture, and of test pictures: clean pages, or masks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.base import Files, Items, Names, target_word
from sandmill.kinds.files.media import MediaFiles, Part, template
from sandmill.models.layout import public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes
from sandmill.scoring.forms.runs import masks_of, parse_runs, write_runs

CLEANED = "train_cleaned/"
"""Folder of the clean training pages."""
MASKS_FOLDER = "train/masks/"
"""Folder of the masks of training pictures."""


def grey_png(pixels: bytes, shape: tuple[int, int]) -> bytes:
    """Return a grey picture of one byte a pixel as PNG, without compression: all of a shape have as many bytes."""
    from PIL import Image

    out = BytesIO()
    Image.frombytes("L", (shape[1], shape[0]), pixels).save(out, "png", compress_level=0)
    return out.getvalue()


@dataclass(frozen=True)
class _PairedFolders(MediaFiles):
    """A second folder holds a PNG for each training picture, under the name of that picture."""

    second: str = ""
    """The second folder."""

    @cached_property
    def places(self) -> tuple[Part, ...]:
        """Those of both parts and the second folder."""
        return (*super().places, Part(None, self.second, template(self.name), is_train=True))

    def _lay_second(self, train: pl.DataFrame, pictures: list[bytes], facts: TaskFacts) -> dict[str, bytes]:
        """Write the second pictures, given as pixels."""
        return self._lay(self.places[-1], train, [grey_png(picture, facts.picture) for picture in pictures], facts)

    def _read_second(self, public: Files, facts: TaskFacts, ids: list[str], faults: list[str]) -> list[bytes | None]:
        """Return the pixels of the second pictures in the order of the ids of the training pictures."""
        found = self._find(public, self.places[-1], facts, [], faults)
        contents = dict(found.select(facts.id_column, "content").iter_rows())
        if sorted(contents) != sorted(ids):
            faults.append(f"{self.second}: its files do not have the names of those in {self.train_items}")
            return []
        columns = facts.picture[::-1]
        pictures = [_pixels(contents[name], columns) for name in ids]
        if odd := [name for name, pixels in zip(ids, pictures, strict=True) if pixels is None]:
            faults.append(
                f"{self.second}: files that are no grey PNG of {columns[0]} by {columns[1]} pixels ({name_some(odd)})"
            )
        return pictures


@dataclass(frozen=True)
class PageFolders(_PairedFolders):
    """`train/`, `train_cleaned/` and `test/` hold one PNG a page. A page and its clean copy have the same name."""

    @property
    def train(self) -> str:
        """The folder of the clean training pages, which are the targets."""
        return CLEANED

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the pages of both parts, and the clean training pages, whose pixels are the targets."""
        files = super().write(train.drop(facts.target_column), test, facts)
        return files | self._lay_second(train, [bytes(page) for page in train[facts.target_column]], facts)

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read all pages. The pixels of the clean ones become the targets."""
        items = super().read(public, facts, features, only_in_training)
        faults = list(items.faults)
        pages = self._read_second(public, facts, items.train[facts.id_column].to_list(), faults)
        if faults:
            return Items(items.train, items.test, tuple(faults))
        target = pl.Series(facts.target_column, pages, dtype=pl.Binary)
        return Items(items.train.with_columns(target), items.test)

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Say what each folder holds."""
        rows, columns = facts.picture
        names = {"id": facts.id_column}
        pages = f"{self.item}s of {columns} by {rows} pixels, each named `{template(self.name).described(names)}`"
        return [
            (self.train_items, f"{sizes.train} dirty {pages}"),
            (CLEANED, f"the same {sizes.train} {self.item}s, clean, under the same names: 0 is black and 255 is white"),
            (self.test_items, f"{sizes.feedback + sizes.final} dirty {pages}, to be cleaned"),
        ]

    def naming(self, facts: TaskFacts) -> Mapping[str, str]:
        """Say how pages are named and what the pixels of clean ones mean."""
        dirty = f"clean here and dirty under the same names in `{public_path(self.train_items)}`"
        return {CLEANED: f"{dirty}; 0 is black and 255 is white", self.test_items: "each dirty"}

    def _columns(self, part: Part, facts: TaskFacts, shown: Names, only: Names) -> list[str]:
        """Return nothing: no table holds a part, and the second folder holds the targets."""
        return []


@dataclass(frozen=True)
class MaskFolders(_PairedFolders):
    """`train/images/`, `train/masks/` and `test/images/` hold one PNG a picture; train.csv holds the masks as runs."""

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the pictures of both parts, the table of runs, and the same masks as pictures."""
        masks = mask_pixels(train[facts.target_column], facts)
        return super().write(train, test, facts) | self._lay_second(train, masks, facts)

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read all pictures and the table of runs. The masks in the folder must be the same."""
        items = super().read(public, facts, features, only_in_training)
        faults = list(items.faults)
        if not faults:
            runs = pl.col(facts.target_column).fill_null("")
            items = Items(items.train.with_columns(runs), items.test)
            pictures = self._read_second(public, facts, items.train[facts.id_column].to_list(), faults)
            try:
                is_same = not faults and pictures == mask_pixels(items.train[facts.target_column], facts)
            except ValueError as error:
                is_same = False
                faults.append(f"{self.train}: masks that are no runs of pixels (expected {error})")
            if not (is_same or faults):
                faults.append(f"{self.second}: its pictures are not the masks of {self.train}")
        return Items(items.train, items.test, tuple(faults))

    def contents(self, facts: TaskFacts, sizes: Sizes) -> list[tuple[str, str]]:
        """Say what the table and each folder hold."""
        rows, columns = facts.picture
        named = f"each named `{template(self.name).described({'id': facts.id_column})}`"
        grey = f"grey {self.item}s of {columns} by {rows} pixels, {named}"
        return [
            (self.train, f"{sizes.train} {self.item}s with the {target_word(facts)} `{facts.target_column}`"),
            (self.train_items, f"the {self.item}s of `{self.train}`: {grey}"),
            (self.second, "the same masks as pictures under the same names: 255 in the mask, 0 elsewhere"),
            (self.test_items, f"{sizes.feedback + sizes.final} {grey}, to be marked"),
        ]

    def naming(self, facts: TaskFacts) -> Mapping[str, str]:
        """Say where the pictures of the table are."""
        return {
            self.train: f"with the pictures in `{public_path(self.train_items)}` and the masks as pictures in "
            f"`{public_path(self.second)}`",
            self.test_items: f"each named `{template(self.name).described({'id': facts.id_column})}`",
        }


def mask_pixels(runs: pl.Series, facts: TaskFacts) -> list[bytes]:
    """Return the masks of a column of runs as pixels of 0 and 255, row by row.

    Raises:
        ValueError: if a cell does not hold runs of the picture.
    """
    rows, columns = facts.picture
    plain = [write_runs(parse_runs(cell, rows * columns)) for cell in runs.fill_null("").to_list()]
    masks = masks_of(plain, rows * columns)
    return [np.uint8(255 * mask.reshape(columns, rows).T).tobytes() for mask in masks]


def _pixels(content: bytes, size: tuple[int, int]) -> bytes | None:
    """Return the pixels of a grey picture of a size, one byte each; None if it is another file."""
    from PIL import Image

    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as picture:
            return picture.tobytes() if picture.mode == "L" and picture.size == size else None
    except (OSError, ValueError, SyntaxError):
        return None


PAGES = PageFolders(
    train_items="train/",
    test_items="test/",
    second=CLEANED,
    name="{id}.png",
    train_table=None,
    item="page",
    sample="sampleSubmission.csv",
)

MASKS = MaskFolders(train_items="train/images/", test_items="test/images/", second=MASKS_FOLDER, name="{id}.png")
