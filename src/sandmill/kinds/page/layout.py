"""Folders of pictures, of a second picture for each training picture, and of test pictures: clean pages, or masks."""

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
import polars as pl

from sandmill.errors import name_some
from sandmill.kinds.files.base import Fault, Files, Names, Parts
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

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read all pages. The pixels of the clean ones become the targets."""
        train, test = super().read_parts(public, facts, features, only_in_training)
        found = self._find(public, self.places[-1], facts, [])
        if not found[facts.id_column].equals(train[facts.id_column]):
            raise Fault(f"{CLEANED}: its files do not have the names of those in {self.train_items}")
        pages = [_pixels(content, facts.picture[::-1]) for content in found["content"]]
        if odd := [name for name, pixels in zip(found[facts.id_column], pages, strict=True) if pixels is None]:
            raise Fault(f"{CLEANED}: files that are no grey PNG of {facts.picture} rows and columns ({name_some(odd)})")
        return train.with_columns(pl.Series(facts.target_column, pages, dtype=pl.Binary)), test

    def told(self, facts: TaskFacts, sizes: Sizes) -> dict[str, str]:
        """Say what each folder holds, how pages are named and what the pixels of clean ones mean."""
        rows, columns = facts.picture
        named = f"each named `{template(self.name).described({'id': facts.id_column})}`"
        dirty = f"clean here and dirty under the same names in `{public_path(self.train_items)}`"
        return {
            self.train_items: f"{sizes.train} dirty {self.item}s of {columns} by {rows} pixels, {named}",
            CLEANED: f"{dirty}; 0 is black and 255 is white",
            self.test_items: "each dirty",
        }

    def _columns(self, part: Part, facts: TaskFacts, shown: Names, only: Names) -> list[str]:
        """Return nothing: no table holds a part, and the second folder holds the targets."""
        return []


@dataclass(frozen=True)
class MaskFolders(_PairedFolders):
    """`train/images/`, `train/masks/` and `test/images/` hold one PNG a picture; train.csv holds the masks as runs."""

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the pictures of both parts, the table of runs, and the same masks as pictures."""
        return super().write(train, test, facts) | self._lay_masks(train, facts)

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read all pictures and the table of runs. The masks in the folder must be the same."""
        train, test = super().read_parts(public, facts, features, only_in_training)
        try:
            masks = self._lay_masks(train, facts)
        except ValueError as error:
            raise Fault(f"{self.train}: masks that are no runs of pixels (expected {error})") from error
        if masks != {path: content for path, content in public.items() if path.startswith(self.second)}:
            raise Fault(f"{self.second}: its pictures are not the masks of {self.train}")
        return train.with_columns(pl.col(facts.target_column).fill_null("")), test

    def told(self, facts: TaskFacts, sizes: Sizes) -> dict[str, str]:
        """Say what the table and each folder hold, and where the pictures of the table are."""
        rows, columns = facts.picture
        named = f"each named `{template(self.name).described({'id': facts.id_column})}`"
        folders = (public_path(folder) for folder in (self.train_items, self.second))
        return {
            self.train: "with the pictures in `{}` and the masks as pictures in `{}`".format(*folders),
            self.train_items: f"the {self.item}s of `{self.train}`: grey {self.item}s of {columns} by {rows} pixels, "
            f"{named}",
            self.second: "the same masks as pictures under the same names: 255 in the mask, 0 elsewhere",
            self.test_items: named,
        }

    def _lay_masks(self, train: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        return self._lay_second(train, mask_pixels(train[facts.target_column], facts), facts)


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
