"""Design of what stands between a mechanism and tables with a picture beside each row."""

from collections.abc import Sequence

from sandmill.design.lexicon import draw_medium
from sandmill.design.media.images import ImageDesign
from sandmill.models.channels.images import ImageChannel, ImageMedium
from sandmill.models.columns import Column
from sandmill.rng import Streams


class CellsMedium(ImageMedium):
    """Pictures of a domain, and the columns that a table holds beside them."""

    shown: tuple[str, ...]


class MixedDesign(ImageDesign):
    """How designs of one kind draw pictures, with some columns as cells beside them."""

    def choose_medium(self, place: float) -> CellsMedium:
        """Return the domain of a design by its place among all of the kind."""
        return self.with_faint(draw_medium(f"images/{self.kind}", CellsMedium, place))

    def choose_channel(self, medium: ImageMedium, columns: Sequence[Column], streams: Streams) -> ImageChannel:
        """Draw the nuisance, and show the columns of the table in the order of the design."""
        beside = medium.shown if isinstance(medium, CellsMedium) else ()
        shown = tuple(column.name for column in columns if column.name in beside)
        return super().choose_channel(medium, columns, streams).model_copy(update={"shown": shown})


TABLE_IMAGE = MixedDesign(
    kind="table_image", file="jpg", sides=(40,), is_grey=True, faint=("veins", "midrib", "teeth", "lobes", "specks")
)
IMAGE_PATIENTS = MixedDesign(kind="image_patients", file="jpg", sides=(22,))
