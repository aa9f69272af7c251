"""Pictures: each follows from its own row, shows the latent values, and gives nothing away beside them."""

import inspect
import io
import re
import zipfile
from copy import copy
from io import BytesIO

import numpy as np
import polars as pl
import pytest
from PIL import Image, PngImagePlugin
from scipy.ndimage import maximum_filter
from scipy.stats import spearmanr

from sandmill.check import check_package
from sandmill.design import design_task
from sandmill.design.grammar import medium_of
from sandmill.draw import render
from sandmill.kinds.audio.channel import AudioMedium
from sandmill.kinds.files.archives import archive_excess, pack
from sandmill.kinds.files.item_files import image_findings
from sandmill.kinds.image import files as image_files
from sandmill.kinds.image.channel import ImageChannel, ImageMedium, Seen
from sandmill.kinds.image.measures import estimates, measuring_lines
from sandmill.kinds.image.render import render_images
from sandmill.kinds.image.scenes import sights_of
from sandmill.kinds.library import load_folder, load_kinds
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from tests.designs import SECRET, bundled_seeds, make_image_spec

ROWS = RowNumbers.of(Streams(SECRET, "pictures"), range(200))
LATENTS = {"light": np.linspace(0, 1, 200), "colour": np.tile([0.0, 1.0], 100), "coast": np.arange(200) % 4.0}
CHANNEL = ImageChannel(
    column="picture",
    meaning="A picture",
    side=48,
    grain=6.0,
    seen=tuple(Seen(sight=sight, column=sight if sight in LATENTS else None) for sight in sights_of("objects")),
)
USUAL = {
    "grain": 6.0,
    "lighting": 0.06,
    "occlusion": 0.05,
    "blur": 0.2,
    "motion": 0.15,
    "vignette": 0.17,
    "shift": 0.01,
}
SCENES = {
    "objects": {"side": 48},
    "ground": {"side": 56, "file": "jpg", "grain": 4.0},
    "leaf": {"side": 60, "file": "jpg", "grain": 4.0},
    "glyphs": {"file": "jpg", "grain": 3.5},
    "outline": {"file": "jpg", "is_grey": True},
    "chest": {"side": 96, "file": "jpg", "is_grey": True, "blur": 0.08},
    "fundus": {"side": 48},
    "tissue": {"side": 48, "file": "tif"},
    "mole": {"side": 48, "file": "jpg"},
}
FAINT = {"plant_length": 0.7, "stones": 0.72, "gulls": 0.75}
FAINT |= {
    "tip_down": 0.9,
    "reach": 0.72,
    "bleed_size": 0.7,
    "deposits": 0.75,
    "nuclei": 0.75,
    "nuclei_size": 0.75,
    "holes": 0.75,
}
"""Sights that other things hide more often: rank correlation of the measure with the column."""


def pixels_of(pictures):
    return np.stack([np.asarray(Image.open(io.BytesIO(picture))) for picture in pictures]).astype(float)


@pytest.fixture(scope="module")
def rendered():
    spec = make_image_spec()
    return render(spec.model_copy(update={"sizes": Sizes(train=120, feedback=200, final=300)}), SECRET)


@pytest.mark.parametrize("scene", SCENES)
def test_what_pictures_show_is_measured_in_them(scene):
    sights, rng = sights_of(scene), np.random.default_rng(1)
    latents = {
        name: rng.integers(0, one.levels or 2**30, 300) / (1 if one.levels else 2**30) for name, one in sights.items()
    }
    seen = tuple(Seen(sight=sight, column=sight) for sight in sights)
    channel = ImageChannel(column="p", meaning="p", scene=scene, seen=seen, **{"side": 64, **USUAL, **SCENES[scene]})
    pixels = pixels_of(render_images(channel, latents, RowNumbers.of(ROWS.streams, range(300))))
    shaped = pixels if pixels.ndim == 4 else pixels[..., None].repeat(3, axis=3)
    found = estimates(shaped.astype(np.float32), measuring_lines(channel.cues))
    assert np.isfinite(found.to_numpy(float)).all()
    assert set(found.dtypes) == {np.dtype(float)}, "models fit other numbers differently in scripts than in the panel"
    wrong = {}
    for name, sight in sights.items():
        made = found[name].to_numpy(float)
        right = np.mean(np.rint(made) == latents[name]) if sight.levels else spearmanr(made, latents[name])[0]
        wrong |= {name: right} if right < FAINT.get(name, 0.8) else {}
        assert sight.levels or abs(np.median(made) - 0.5) < 0.3, name
    assert not wrong


def test_a_large_value_shows_much_of_a_thing():
    sky = pixels_of(render_images(CHANNEL, LATENTS, ROWS))[:, :8].mean(axis=(1, 2, 3))
    assert np.corrcoef(sky, LATENTS["light"])[0, 1] > 0.8


def test_channels_of_older_releases_load():
    seen = {"sight": "light", "column": "light", "is_turned": True}
    old = ImageChannel.model_validate({**CHANNEL.model_dump(), "seen": [seen]})
    assert [cue.column for cue in old.cues] == ["light"]


def repacked(content, **changes):
    """The same archive with one entry that tells more than the others."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for number, info in enumerate(old.infolist()):
            changed = changes if number == 0 else {}
            told = zipfile.ZipInfo(changed.get("filename", info.filename), changed.get("date_time", info.date_time))
            told.create_system, told.external_attr = info.create_system, info.external_attr
            told.comment = changed.get("comment", b"")
            told.compress_type = changed.get("compress_type", zipfile.ZIP_STORED)
            new.writestr(told, old.read(info))
    return out.getvalue()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"date_time": (2021, 1, 1, 0, 0, 0)}, "test.zip: holds times, comments"),
        ({"comment": b"1"}, "test.zip: holds times, comments"),
        ({"compress_type": zipfile.ZIP_DEFLATED}, "test.zip: holds times, comments"),
        ({"filename": "1.abcdef.png"}, "test.zip: files with names of another form (1.abcdef.png)"),
    ],
)
def test_an_archive_that_tells_more_is_refused(rendered, changes, message):
    public = {**rendered.package.public, "test.zip": repacked(rendered.package.public["test.zip"], **changes)}
    found = check_package(rendered.package.model_copy(update={"public": public}))
    assert any(message in str(finding) for finding in found), found


def zipped(*contents, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"{number}.png", content)
    return out.getvalue()


def shared(content):
    """An archive of which two entries are the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.png", content)
        archive.filelist.append(copy(archive.filelist[0]))
        archive.filelist[1].filename = "b.png"
    return out.getvalue()


def plain_png(side, **remarks):
    out, info = io.BytesIO(), PngImagePlugin.PngInfo()
    for name, text in remarks.items():
        info.add_text(name, text)
    Image.new("RGB", (side, side)).save(out, "png", compress_level=0, pnginfo=info)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "not a zip archive"),
        (b"x" * (20 << 20) + b"y", "has 20971521 bytes; the most is 20971520"),
        (zipped(bytes(1 << 20), compression=zipfile.ZIP_DEFLATED), "are compressed"),
        (shared(bytes(1 << 20)), "share bytes"),
        (zipped(b"1", b"2", b"3"), "has 3 files; its design has 2"),
        (pack([("a.png", plain_png(600))]), "has 1 files; its design has 2"),
        (pack([("a.png", plain_png(513)), ("b.png", plain_png(16))]), "no PNG of at most 512 pixels a side .a.png"),
    ],
)
def test_a_strangers_archive_is_judged_before_a_picture_is_decoded(content, message):
    assert re.search(message, next(archive_excess("test.zip", content, 2)))


def test_pictures_of_several_sizes_or_with_remarks_are_found():
    assert list(image_findings(pl.Series([plain_png(16)]), pl.Series([plain_png(16)]))) == []
    found = list(
        image_findings(pl.Series([plain_png(16), plain_png(17)]), pl.Series([plain_png(16, label="1"), b"no picture"]))
    )
    assert found == [
        "2 pictures not of a header, pixels and an end alone",
        "pictures of 2 widths, heights or colour types; expected one",
        "pictures of 4 numbers of bytes; expected one, so that sizes of files tell nothing",
    ]


def test_a_file_that_is_read_again_gives_the_pixels_that_scripts_read(tmp_path):
    paths = []
    for number in range(3):
        drawn = np.random.default_rng(number).integers(0, 256, (20, 20, 3)).astype(np.uint8)
        paths.append(tmp_path / f"{number}.jpg")
        Image.fromarray(drawn).save(paths[-1])
    for files in (paths, [BytesIO(path.read_bytes()) for path in reversed(paths)], paths):
        known = image_files.pixels(files)
        assert known.dtype == np.float32
        np.testing.assert_array_equal(known, inspect.unwrap(image_files.pixels)(files))


def drawn(scene, rows=60, **changes):
    """Pictures of a scene without any nuisance but its own chance; `changes` sets sights and parts of the channel."""
    sights = sights_of(scene)
    latents = {name: np.full(rows, float(value)) for name, value in changes.items() if name in sights}
    seen = tuple(Seen(sight=sight, column=sight if sight in latents else None) for sight in sights)
    more = {"grain": 0.0, "side": 64, **{name: value for name, value in changes.items() if name not in sights}}
    channel = ImageChannel(column="p", meaning="p", scene=scene, seen=seen, **more)
    return pixels_of(render_images(channel, latents, RowNumbers.of(ROWS.streams, range(rows))))


def test_globules_lie_in_the_mole_and_none_on_clean_skin():
    none, all_six = (drawn("mole", globules=share, size=0, veil=0, scar=0, hairs=0, rim=0) for share in (0, 1))
    is_globule = np.abs(all_six - none).sum(axis=3) > 60
    skin = np.median(none[:, 8:16, 8:-8], axis=(1, 2))[:, None, None]
    is_mole = (none / skin).mean(axis=3) < 0.85
    assert is_globule.sum(axis=(1, 2)).min() > 60
    assert np.mean(is_mole[is_globule]) > 0.97


def test_the_letter_of_a_radiograph_names_the_side_on_which_it_lies():
    at_left, at_right = (drawn("chest", marker=side, side=96, is_grey=True) for side in (0, 1))
    letters = [
        films[:, :16, edge].astype(float) for films, edge in ((at_left, slice(16)), (at_right, slice(-16, None)))
    ]
    upper = [(letter[:, :8] > 190).sum(axis=(1, 2)).mean() for letter in letters]
    # The upper half of an R is a stem and a bow, that of an L a stem
    assert upper[0] > 1.6 * upper[1] > 0
    # The heart lies on the side of the L in all films: none is mirrored
    for films in (at_left, at_right):
        assert (films[:, 50:66, 52:70].mean(axis=(1, 2)) > films[:, 50:66, 26:44].mean(axis=(1, 2))).mean() > 0.95


def test_teeth_of_a_leaf_are_a_margin_and_not_the_tiers_of_a_fir():
    smooth, toothed = (
        (drawn("outline", teeth=share, shade=0, paper=1, specks=0, lobes=0, is_grey=True)[:, 16:] < 150).sum(axis=2)
        for share in (0, 1)
    )
    assert 1 < np.abs(toothed - smooth).max() <= 2 * 0.03 * 64 + 2


@pytest.mark.parametrize("scene", SCENES)
def test_a_drop_on_the_lens_blurs_and_leaves_no_dark_blot(scene):
    clear, wet = (drawn(scene, occlusion=share) for share in (0.0, 1.0))
    assert np.abs(clear - wet).max() > 30
    assert 0.97 < wet.mean() / clear.mean() < 1.03


def test_what_belongs_to_a_patient_is_one_value_for_all_its_pictures():
    seed = next(seed for seed in bundled_seeds().supported if seed.id == "siim-isic-melanoma-classification")
    for place in (0.2, 0.8):
        slot = Slot(number=0, seed=seed, band=Band.HARD, place=place)
        medium, spec = medium_of(slot), design_task(slot, Streams(SECRET, "patients"), 0.3)
        of_unit = {column.name for column in spec.mechanism.columns if column.unit}
        assert of_unit == {*medium.of_unit} & {*spec.mechanism.column_by_name}
        assert len({*medium.of_unit} & {*medium.needed} & of_unit) == 2


def image_media():
    return [
        medium
        for folder in sorted({kind.name for kind in load_kinds("image")})
        for medium in load_folder(f"image/domains/{folder}", ImageMedium)
    ]


def test_a_scene_and_its_settings_call_levels_by_the_same_words():
    for medium in image_media():
        levels = {word.name: [level.replace("_", " ") for level in word.levels] for word in medium.domain.categorical}
        for one in medium.seen:
            text = sights_of(medium.scene)[one.sight].text
            if one.column in levels and (listed := re.search(r"\(([^)]*)\)$", text)):
                assert listed[1].split(", ") == levels[one.column], (medium.domain.name, one.column)


def test_no_quotient_of_pictures_or_sounds_is_a_share_of_its_own_divisor():
    """Sentences on norms speak of three times and ten times the norm, which a share cannot be."""
    for medium in (*image_media(), *load_folder("audio/domains", AudioMedium)):
        for quotient in medium.domain.knows.formulas:
            own = {column for product in quotient.top for column in product}
            assert not own & {column for product in quotient.bottom for column in product}, quotient.name


def test_nobody_knows_a_spot_longer_than_the_patient_has_lived():
    laws = [{word.name: word.distribution for word in medium.domain.numeric} for medium in image_media()]
    checked = 0
    for law in laws:
        for known, age, steps in (("known_months", "age_years", 12), ("known_weeks", "age_months", 52 / 12)):
            if known in law:
                # One picture in ten thousand
                assert law[known].median * np.exp(3.7 * law[known].sigma) < steps * law[age].low
                checked += 1
    assert checked == 2


def test_no_part_of_the_body_that_has_no_hair_is_photographed_with_hairs():
    sites = [
        word.levels
        for medium in image_media()
        for word in medium.domain.categorical
        if word.name in ("site", "body_part")
    ]
    assert len(sites) == 2
    assert not any(re.search("palm|sole", level) for levels in sites for level in levels)


def test_what_has_grown_on_a_leaf_does_not_reach_beyond_its_edge():
    shape = {"width": 0, "length": 0, "tag": 2, "scab_size": 1}
    bare, full = (drawn("leaf", **shape, **dict.fromkeys(("scab", "rust", "holes"), share)) for share in (0, 1))
    is_changed = np.abs(full - bare).max(axis=3) > 40
    # The cloth is blue
    is_leaf = bare[..., 1] > bare[..., 2]
    assert is_changed.sum() > 60 * 200
    assert np.mean(maximum_filter(is_leaf, (1, 3, 3))[is_changed]) == 1
