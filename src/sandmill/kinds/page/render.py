"""Render small pictures twice: what is to be found, and what a scanner saw of it. The dirt follows latent columns.

What is to be found is a clean page, or the mask of some regions: then `clean` is 0 in the mask and 1 elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sandmill.kinds.page.channel import FieldsChannel, GreyChannel, MasksChannel, Trait
from sandmill.kinds.page.layout import grey_png
from sandmill.kinds.page.marks import MOST_NUMBERS, NUMBERS, SCENES, STYLES, Pages, Regions, darkness_of
from sandmill.kinds.traits import generators
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams

LEVELS = 255
"""Steps from black to white."""
PAPER = 0.97
"""Value of the paper of a dirty page where nothing darkens it."""
_STAINS = 3
"""Stains of a page."""
_MOST_SPECKS = 24
_MOST_CRUMBS = 12
_CRUMB = (0.5, 1.1)
"""Least and largest radius of a crumb in pixels."""


@dataclass(frozen=True)
class Scans:
    """Pages as they are drawn, and what the scanner saw. All arrays have shape (pages, height, width), from 0 to 1."""

    clean: Floats
    """Clean pages in 256 levels."""
    dirty: Floats
    """Dirty pages in 256 levels, before lines slip."""
    slipped: Floats
    """The same pages as files hold them."""
    light: Floats
    """What a dirty page would be without ink and noise."""
    fade: Floats
    """Share of the ink that is left, shape (pages, 1, 1)."""
    blur: Floats
    """Share of a pixel's ink that each of four neighbours gets, shape (pages, 1, 1)."""
    grain: Floats
    """Standard deviation of the noise, shape (pages, 1, 1)."""


def render_dirty(channel: GreyChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Draw a dirty page for each row, as PNG. Row i depends on its own numbers and latent values alone."""
    dirty = scan(channel, latents, row_numbers).slipped
    is_bright = isinstance(channel, MasksChannel) and channel.is_bright
    pages = np.rint(LEVELS * (1 - dirty if is_bright else dirty)).astype(np.uint8)
    return [grey_png(page.tobytes(), (channel.height, channel.width)) for page in pages]


def scan(channel: GreyChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> Scans:
    """Draw pages and what the scanner saw of them. Items and targets of the same rows are drawn once."""
    latent = tuple((name, np.asarray(values, dtype=np.float64).tobytes()) for name, values in sorted(latents.items()))
    return _scan(channel, latent, row_numbers.streams, row_numbers.numbers.tobytes())


@lru_cache(maxsize=3)
def _scan(channel: GreyChannel, latent: tuple[tuple[str, bytes], ...], streams: Streams, numbers: bytes) -> Scans:
    latents = {name: np.frombuffer(values) for name, values in latent}
    traits = _Traits(channel, latents, RowNumbers(streams, np.frombuffer(numbers, dtype=np.int64)))
    covered = traits.page("front")
    clean = np.rint(LEVELS * (1 - traits["ink"] * covered)) / LEVELS
    light = np.clip(PAPER * _light(traits), 0.02, 1)
    seen = light * (1 - traits["fade"] * spread(1 - clean, traits["blur"]))
    noise = traits.normals("grain") * traits["grain"]
    dirty = np.rint(LEVELS * np.clip(seen + noise, 0, 1)) / LEVELS
    return Scans(clean, dirty, _slip(dirty, traits), light, traits["fade"], traits["blur"], traits["grain"])


def _slip(pages: Floats, traits: "_Traits") -> Floats:
    """Move lines to the left by the series of the channel, which begins at another place on each page."""
    series = traits.channel.slips
    if not series:
        return pages
    height, width = pages.shape[1:]
    begin = np.minimum((traits["slip"] * len(series)).astype(np.intp), len(series) - 1)
    slips = np.array(series)[(begin + np.arange(height)[:, None]) % len(series)]
    return np.take_along_axis(pages, (np.arange(width) + slips) % width, axis=2)


def spread(pages: Floats, share: Floats) -> Floats:
    """Blur pages: each pixel keeps what it does not share with the four pixels beside it."""
    return (1 - 4 * share) * pages + share * beside(pages)


def beside(pages: Floats, edge: float | None = None) -> Floats:
    """Sum of the four pixels beside each. Pixels outside the page repeat those at its edge unless a value is given."""
    around = ((0, 0), (1, 1), (1, 1))
    padded = np.pad(pages, around, mode="edge") if edge is None else np.pad(pages, around, constant_values=edge)
    return np.asarray(padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:])


class _Traits:
    """Traits of pages by name, each of shape (pages, 1, 1), and random numbers of the pages."""

    def __init__(self, channel: GreyChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> None:
        self.channel, self.row_numbers = channel, row_numbers
        self._values: dict[Trait, Floats] = {"ink": self._whole(1.0), "fade": self._whole(1.0)}
        for one in channel.traits:
            known = latents.get(one.column or "")
            share = row_numbers.uniforms(f"trait {one.trait}") if known is None else np.clip(known, 0, 1)
            self._values[one.trait] = (one.least + (one.most - one.least) * share)[:, None, None]

    def __getitem__(self, trait: Trait) -> Floats:
        return self._values[trait] if trait in self._values else self._whole(0.0)

    def __contains__(self, trait: object) -> bool:
        return trait in self._values

    def _whole(self, value: float) -> Floats:
        return np.full((len(self.row_numbers.numbers), 1, 1), value)

    @cached_property
    def grid(self) -> tuple[Floats, Floats]:
        """Places of pixels from the middle of a page: down and across."""
        height, width = self.channel.height, self.channel.width
        down, across = (np.arange(side, dtype=np.float64) - (side - 1) / 2 for side in (height, width))
        return np.asarray(down[None, :, None]), np.asarray(across[None, None, :])

    def numbers(self, name: str, count: int) -> Floats:
        """Draw numbers from 0 to 1 for each page, shape (pages, count, 1, 1)."""
        drawn = [rng.random(count) for rng in generators(name, self.row_numbers)]
        return np.stack(drawn)[:, :, None, None] if drawn else np.empty((0, count, 1, 1))

    def normals(self, name: str) -> Floats:
        """Draw standard normal numbers for each pixel."""
        shape = self.channel.height, self.channel.width
        drawn = [rng.standard_normal(shape) for rng in generators(name, self.row_numbers)]
        return np.stack(drawn) if drawn else np.empty((0, *shape))

    def page(self, side: str) -> Floats:
        """Share of each pixel that is covered with ink, on one side of the paper."""
        height, width, channel = self.channel.height, self.channel.width, self.channel
        if isinstance(channel, MasksChannel):
            traits = (self["amount"], self["size"], self["wave"])
            return SCENES[channel.scene](Regions(self.numbers(f"regions {side}", NUMBERS), *traits, *self.grid))
        assert isinstance(channel, FieldsChannel)
        numbers = self.numbers(f"strokes {side}", MOST_NUMBERS)[:, :, 0, 0]
        pages = Pages(height, width, channel.font, numbers, self["density"][:, 0, 0])
        strokes = STYLES[channel.style](pages)
        return darkness_of(strokes, self["weight"][:, 0, 0], self["slant"][:, 0, 0], height, width)

    def along(self, turn: Floats) -> Floats:
        """Distance of each pixel from the middle in a direction, which is given as a share of half a turn."""
        down, across = self.grid
        return across * np.cos(np.pi * turn) + down * np.sin(np.pi * turn)


def _light(traits: _Traits) -> Floats:
    """Share of the light that paper and dirt leave."""
    height, width = traits.channel.height, traits.channel.width
    light = np.ones((len(traits.row_numbers.numbers), height, width))
    for trait, field in _FIELDS.items():
        if trait in traits:
            light *= 1 - traits[trait] * field(traits)
    if "specks" in traits:
        _add_specks(light, traits)
    if "crumbs" in traits:
        light *= 1 - traits["fade"] * _crumbs(traits)
    return light


def _stains(traits: _Traits) -> Floats:
    """Blobs with a wavy outline, which are darkest at the rim."""
    down, across = traits.grid
    numbers, size = traits.numbers("stains", 5 * _STAINS), traits["stain_size"]
    field = np.zeros((len(size), traits.channel.height, traits.channel.width))
    for stain in range(_STAINS):
        x, y, wave, turn, scale = np.moveaxis(numbers[:, 5 * stain : 5 * stain + 5], 1, 0)
        right, below = across - (x - 0.5) * traits.channel.width, down - (y - 0.5) * traits.channel.height
        outline = 1 + 0.3 * wave * np.sin(3 * np.arctan2(below, right) + 2 * np.pi * turn)
        reach = np.hypot(right, below) / (size * (0.6 + 0.8 * scale) * outline)
        inside = 1 / (1 + np.exp(np.clip((reach - 1) * 12, -50, 50)))
        field = np.maximum(field, 0.6 * inside + 0.4 * np.exp(-(((reach - 0.92) / 0.14) ** 2)))
    return field


def _fold(traits: _Traits) -> Floats:
    """A crease, and darker paper on one side of it."""
    place = traits.numbers("fold", 1)[:, 0] - 0.5
    far = traits.along(traits["fold_turn"]) - place * 0.7 * min(traits.channel.height, traits.channel.width)
    return np.asarray(np.maximum(np.exp(-((far / 0.9) ** 2)), 0.35 / (1 + np.exp(-4 * np.clip(far, -9, 9)))))


def _shade(traits: _Traits) -> Floats:
    """Light that falls off in one direction."""
    reach = np.hypot(traits.channel.height, traits.channel.width) / 2
    return np.asarray((1 + traits.along(2 * traits["shade_turn"]) / reach) / 2)


def _rule(traits: _Traits) -> Floats:
    """Thin lines at even steps."""
    down, across = traits.grid
    place = across if traits.channel.is_upright else down
    step = traits["rule_step"]
    far = np.abs(np.mod(place + traits.numbers("rule", 1)[:, 0] * step, step) - step / 2)
    lines = np.clip(1.1 - far, 0, 1)
    return np.broadcast_to(lines, (len(step), traits.channel.height, traits.channel.width))


def _weave(traits: _Traits) -> Floats:
    """A fine wave in one direction."""
    phase = 2 * np.pi * traits.numbers("weave", 1)[:, 0]
    return np.asarray((1 + np.sin(2 * np.pi / 3.2 * traits.along(traits["weave_turn"]) + phase)) / 2)


def _ghost(traits: _Traits) -> Floats:
    """The other side of the paper, mirrored and blurred."""
    return spread(spread(traits.page("back")[:, :, ::-1], traits._whole(0.15)), traits._whole(0.15))


def _crumbs(traits: _Traits) -> Floats:
    """Round crumbs that are too small to be a region."""
    down, across = traits.grid
    height, width = traits.channel.height, traits.channel.width
    numbers, count = traits.numbers("crumbs", 3 * _MOST_CRUMBS), np.rint(traits["crumbs"])
    field = np.zeros((len(count), height, width))
    for crumb in range(_MOST_CRUMBS):
        x, y, scale = np.moveaxis(numbers[:, 3 * crumb : 3 * crumb + 3], 1, 0)
        far = np.hypot(across - (x - 0.5) * width, down - (y - 0.5) * height)
        radius = _CRUMB[0] + (_CRUMB[1] - _CRUMB[0]) * scale
        field = np.maximum(field, np.clip(radius + 0.5 - far, 0, 1) * (count > crumb))
    return field


def _add_specks(light: Floats, traits: _Traits) -> None:
    """Darken single pixels."""
    height, width = light.shape[1:]
    numbers = traits.numbers("specks", 2 * _MOST_SPECKS)[:, :, 0, 0]
    for speck in range(_MOST_SPECKS):
        (has,) = np.nonzero(np.rint(traits["specks"][:, 0, 0]) > speck)
        down = (numbers[has, 2 * speck] * height).astype(np.intp)
        across = (numbers[has, 2 * speck + 1] * width).astype(np.intp)
        light[has, down, across] *= 0.35


_FIELDS: Mapping[Trait, Callable[[_Traits], Floats]] = {
    "stain": _stains,
    "fold": _fold,
    "shade": _shade,
    "rule": _rule,
    "weave": _weave,
    "ghost": _ghost,
}
"""Fields that darken paper, each from 0 to 1."""
