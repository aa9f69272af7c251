"""Design of what stands between a mechanism and its pictures: which thing to be seen follows which latent column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from sandmill.kinds.image.channel import ImageChannel, ImageMedium, PictureFile
from sandmill.kinds.library import draw_medium
from sandmill.models.columns import Column
from sandmill.rng import Streams

Range = tuple[float, float]
AnyMedium = TypeVar("AnyMedium", bound=ImageMedium)
NUISANCE = ("grain", "turn", "lighting", "occlusion", "blur")
"""Fields of a channel that disturb pictures, each drawn from a range of its own."""
_LEAST_GRAIN = 0.5
_VARIED = 0.5
"""Hardness from which sights that follow no column vary over their whole range."""


@dataclass(frozen=True)
class ImageDesign:
    """How designs of one kind draw their pictures. Ranges are those of an even draw for each design."""

    kind: str
    file: PictureFile
    sides: tuple[int, ...]
    grain: Range = (3.0, 9.0)
    turn: Range = (0.0, 0.0)
    lighting: Range = (0.0, 0.12)
    occlusion: Range = (0.0, 0.1)
    blur: Range = (0.0, 0.4)
    is_grey: bool = False
    faint: tuple[str, ...] = ()
    """Sights that general features hardly show: see `Medium.not_leading`."""

    def choose_medium(self, place: float) -> ImageMedium:
        """Return the domain of a design by its place among all of the kind."""
        return self.with_faint(draw_medium(f"image/domains/{self.kind}", ImageMedium, place))

    def with_faint(self, medium: AnyMedium) -> AnyMedium:
        """Return a medium whose rules are not led by a faint sight."""
        faint = tuple(one.column for one in medium.seen if one.sight in self.faint and one.column)
        return medium.model_copy(update={"not_leading": faint})

    def choose_channel(self, medium: ImageMedium, columns: Sequence[Column], streams: Streams) -> ImageChannel:
        """Draw the nuisance, and whether a large value shows much or little of a thing.

        A thing whose column the design lacks is chance.
        """
        latent, rng = {column.name for column in columns}, streams.generator("image channel")
        turned = rng.random(len(medium.seen)) < 0.5
        ranges = {name: getattr(self, name) for name in NUISANCE}
        return ImageChannel(
            kind=self.kind,
            column=medium.column,
            meaning=medium.meaning,
            scene=medium.scene,
            file=self.file,
            is_grey=self.is_grey,
            side=self.sides[int(rng.integers(len(self.sides)))],
            **{name: round(float(rng.uniform(low, high)), 3) for name, (low, high) in ranges.items()},
            seen=tuple(
                one.model_copy(update={"column": one.column if one.column in latent else None, "is_turned": bool(turn)})
                for one, turn in zip(medium.seen, turned, strict=True)
            ),
            only_in_training=tuple(name for name in medium.noted if name in latent),
        )


def calm(channel: ImageChannel, hardness: float) -> ImageChannel:
    """Let easy designs have little of what disturbs pictures, and sights that stay alike if they follow no column."""
    scaled = {name: round(getattr(channel, name) * hardness, 3) for name in NUISANCE}
    scaled["grain"] = max(_LEAST_GRAIN, scaled["grain"])
    return channel.model_copy(update={**scaled, "variety": round(min(1.0, hardness / _VARIED), 4)})


IMAGE_ARCHIVE = ImageDesign(kind="image_archive", file="png", sides=(20, 22))
IMAGE_LABELS = ImageDesign(kind="image_labels", file="jpg", sides=(28,), turn=(0.0, 3.0), blur=(0.0, 0.3))
IMAGE_GRADES = ImageDesign(kind="image_grades", file="png", sides=(24,))
IMAGE_CLASSES = ImageDesign(
    kind="image_classes",
    file="jpg",
    sides=(40,),
    grain=(2.0, 5.0),
    lighting=(0.0, 0.05),
    occlusion=(0.0, 0.05),
    blur=(0.0, 0.2),
    faint=("corner", "bar_width", "weight", "ring", "dots", "rough", "stem_across"),
)
IMAGE_TILES = ImageDesign(kind="image_tiles", file="tif", sides=(24,), turn=(0.0, 3.0))
IMAGE_FLAGS = ImageDesign(kind="image_flags", file="jpg", sides=(30, 32))
IMAGE_NOTES = ImageDesign(kind="image_notes", file="jpg", sides=(32, 36), blur=(0.0, 0.15), is_grey=True)


class CellsMedium(ImageMedium):
    """Pictures of a domain, and the columns that a table holds beside them."""

    shown: tuple[str, ...]


class DesignBesideTable(ImageDesign):
    """How designs of one kind draw pictures, with some columns as cells beside them."""

    def choose_medium(self, place: float) -> CellsMedium:
        """Return the domain of a design by its place among all of the kind."""
        return self.with_faint(draw_medium(f"image/domains/{self.kind}", CellsMedium, place))

    def choose_channel(self, medium: ImageMedium, columns: Sequence[Column], streams: Streams) -> ImageChannel:
        """Draw the nuisance, and show the columns of the table in the order of the design."""
        beside = medium.shown if isinstance(medium, CellsMedium) else ()
        shown = tuple(column.name for column in columns if column.name in beside)
        return super().choose_channel(medium, columns, streams).model_copy(update={"shown": shown})


TABLE_IMAGE = DesignBesideTable(
    kind="table_image", file="jpg", sides=(40,), is_grey=True, faint=("veins", "midrib", "teeth", "lobes", "specks")
)
IMAGE_PATIENTS = DesignBesideTable(kind="image_patients", file="jpg", sides=(22,))
