"""Folders of dirty pages, of the same training pages clean, and of dirty pages to clean."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

import polars as pl

from sandmill.errors import name_some
from sandmill.layouts.base import Items
from sandmill.layouts.file_names import template
from sandmill.layouts.media import MediaFiles, _Part
from sandmill.models.layout import public_path
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

CLEANED = "train_cleaned/"
"""Folder of the clean training pages."""


def grey_png(pixels: bytes, shape: tuple[int, int]) -> bytes:
    """Return a grey picture as PNG, without compression: pictures of a shape have the same number of bytes.

    Args:
        pixels: one byte each, row by row.
        shape: rows and columns.
    """
    from PIL import Image

    out = BytesIO()
    Image.frombytes("L", (shape[1], shape[0]), pixels).save(out, "png", compress_level=0)
    return out.getvalue()


@dataclass(frozen=True)
class PageFolders(MediaFiles):
    """`train/`, `train_cleaned/` and `test/` hold one PNG a page. A page and its clean copy have the same name."""

    @property
    def _places(self) -> tuple[tuple[str, str, str], ...]:
        return (*super()._places, (CLEANED, "train", self.name))

    @property
    def train(self) -> str:
        """The folder of the clean training pages, which are the targets."""
        return CLEANED

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the pages of both parts, and the clean training pages, whose pixels are the targets."""
        pixels = train[facts.target_column]
        cleaned = [grey_png(bytes(page), facts.picture) for page in pixels]
        files = super().write(train.drop(facts.target_column), test, facts)
        return files | self._lay(CLEANED, self.name, train, cleaned, facts)

    def read(
        self,
        public: Mapping[str, bytes],
        facts: TaskFacts,
        features: tuple[str, ...],
        only_in_training: tuple[str, ...] = (),
    ) -> Items:
        """Read all pages. The pixels of the clean ones become the targets."""
        items = super().read(public, facts, features, only_in_training)
        faults = list(items.faults)
        cleaned = self._find(public, CLEANED, self.name, facts, [], faults)
        if cleaned[facts.id_column].to_list() != items.train[facts.id_column].to_list():
            faults.append(f"{CLEANED}: its files do not have the names of those in {self.train_items}")
        columns = facts.picture[::-1]
        pages = [(path, _pixels(content, columns)) for path, content in cleaned.iter_rows()]
        if odd := [path for path, pixels in pages if pixels is None]:
            faults.append(
                f"{CLEANED}: files that are no grey PNG of {columns[0]} by {columns[1]} pixels ({name_some(odd)})"
            )
        if faults:
            return Items(items.train, items.test, tuple(faults))
        target = pl.Series(facts.target_column, [pixels for _, pixels in pages], dtype=pl.Binary)
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
        dirty = f"these are clean, and dirty under the same names in `{public_path(self.train_items)}`"
        return {CLEANED: f"{dirty}; 0 is black and 255 is white", self.test_items: "each dirty"}

    def _parts(self, facts: TaskFacts, shown: tuple[str, ...], only: tuple[str, ...]) -> tuple[_Part, _Part]:
        """Return both parts without cells: no table holds them."""
        name = template(self.name)
        return _Part(None, self.train_items, name, []), _Part(None, self.test_items, name, [])


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
    name="{id}.png",
    train_table=None,
    item="page",
    sample="sampleSubmission.csv",
)
