"""Contrast of the page's colours by the rules of WCAG 2.2."""

import re

import pytest

from sandmill.report.html.page import asset

TEXT, GRAPHIC = 4.5, 3.0
"""Least contrast of text, and of shapes that tell something."""
PAIRS = [
    *((ink, ground, TEXT) for ink in ("ink", "faint", "accent", "good", "bad") for ground in ("ground", "panel")),
    ("ink", "accent-soft", TEXT),
    ("ink", "track", TEXT),
    ("accent", "accent-soft", TEXT),
    ("accent", "track", GRAPHIC),
]


def palettes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{([^}]*)\}", asset("page.css"))
    return dict(
        zip(("light", "dark"), (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", one)) for one in blocks), strict=True)
    )


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_the_most_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground", "least"), PAIRS)
def test_colours_can_be_told_apart(mode, ink, ground, least):
    colours = palettes()[mode]
    assert contrast(colours[ink], colours[ground]) >= least


def test_dark_mode_names_every_colour():
    light, dark = palettes().values()
    assert light.keys() == dark.keys()
