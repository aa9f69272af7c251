"""Pages to clean and pictures to mark: each follows from its own row, lines slip as stated, and panels are ladders."""

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.check.file_gates import clean_findings
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.page.channel import FieldsChannel, MasksChannel, Ranged
from sandmill.kinds.page.design import choose_slips, design_pages
from sandmill.kinds.page.layout import CLEANED, MASKS, MASKS_FOLDER, PAGES, grey_png, mask_pixels
from sandmill.kinds.page.marks import MOST_NUMBERS, NUMBERS, STYLES, Pages, Regions
from sandmill.kinds.page.marks import SCENES as REGIONS_OF
from sandmill.kinds.page.oracle import clean_pages, marked_regions
from sandmill.kinds.page.regressions import moved_back, series_of, shifted, slips_at
from sandmill.kinds.page.render import render_dirty, scan
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.calibration import Rung, Tier
from sandmill.models.kind import kind_named
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission
from tests.designs import SECRET, bundled_seeds

SERIES = (0, 5, 0, 2, 0, 0, 6, 0)
SCENES = ("bodies", "layer", "grains")
RANGES = {"density": (0.5, 0.9), "weight": (1, 1.6), "stain": (0.1, 0.4), "stain_size": (3, 7), "rule": (0.1, 0.4)}
RANGES |= {"rule_step": (4, 6), "ghost": (0, 0.3), "blur": (0, 0.1), "grain": (0.02, 0.05), "fade": (0.6, 0.9)}
PLAIN = {"density": (0.6, 0.9), "weight": (1, 1.6), "grain": (0.02, 0.05), "fade": (0.6, 0.9), "slip": (0, 1)}
REGIONS = {"amount": (0, 2.4), "size": (3, 5), "wave": (0.1, 0.4), "fade": (0.3, 0.5), "crumbs": (0, 6)}
REGIONS |= {"stain": (0.1, 0.3), "stain_size": (3, 5), "blur": (0, 0.1), "grain": (0.02, 0.05)}
SEEDS = {"image_fields": "denoising-dirty-documents", "image_masks": "hubmap-kidney-segmentation"}


def traits_of(ranges):
    return tuple(Ranged(trait=name, column=name, least=least, most=most) for name, (least, most) in ranges.items())


def page_channel(ranges=RANGES, style="writing", slips=(), height=16, width=20):
    shape = {"height": height, "width": width, "traits": traits_of(ranges)}
    return FieldsChannel(column="page", meaning="A page", style=style, font=7, slips=slips, **shape)


def mask_channel(scene="bodies", *, is_bright=False, **more):
    shape = {"height": 24, "width": 30, "traits": traits_of(REGIONS | more)}
    return MasksChannel(column="scene", meaning="A scene", scene=scene, is_bright=is_bright, **shape)


def rows_of(numbers):
    return RowNumbers(Streams(SECRET, "pages"), np.array(numbers))


def slipped(slips, begins):
    channel = page_channel(PLAIN, slips=slips, height=20, width=24)
    return scan(channel, {"slip": np.asarray(begins)}, rows_of(range(len(begins))))


@pytest.fixture(scope="module", params=SEEDS)
def rendered(request):
    seed = next(one for one in bundled_seeds().supported if one.id == SEEDS[request.param])
    spec = design_pages(Slot(number=0, seed=seed, band=Band.MEDIUM), Streams(SECRET, "design"), 0.3)
    return render(spec.model_copy(update={"sizes": Sizes(train=60, feedback=100, final=100)}), SECRET)


of_pages = pytest.mark.parametrize("rendered", ["image_fields"], indirect=True)
of_masks = pytest.mark.parametrize("rendered", ["image_masks"], indirect=True)


@pytest.fixture(scope="module")
def panel(rendered, tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    write_files(folder, rendered.package.public)
    return folder, OwnPanel(folder, rendered.package.facts)


def merit(rendered, prediction):
    """The score of a prediction, greater is better."""
    metric = get_metric(rendered.package.facts.metric)
    score = metric.score(rendered.answers.truth, prediction)
    return -score if metric.is_lower_better else score


def merits(rendered, runs):
    return {run.name: merit(rendered, run.prediction) for run in runs}


def ladder_of(rendered, cues=()):
    facts = rendered.package.facts
    return kind_named(facts.kind).load("panel").ladder(facts, None, cues)


def run_script(rendered, script, folder):
    with script_surroundings(folder, folder / "submission.csv"):
        run_source(script.source, {"__name__": "__main__"})
    content = (folder / "submission.csv").read_bytes()
    return merit(rendered, parse_submission(content, rendered.package.facts, rendered.answers.ids))


CHANNELS = [
    *((page_channel(style=style), clean_pages) for style in ("writing", "plan", "map", "score", "label")),
    *((mask_channel(scene), marked_regions) for scene in SCENES),
]


@pytest.mark.parametrize(("channel", "targets"), CHANNELS)
def test_a_picture_and_its_target_follow_from_their_own_row(channel, targets):
    level = np.linspace(0, 1, 12)
    pages = render_dirty(channel, {"stain": level}, rows_of(range(12)))
    assert pages[3:6] == render_dirty(channel, {"stain": level[3:6]}, rows_of(range(3, 6)))
    assert len(set(map(len, pages))) == 1
    whole = targets(channel, {"stain": level}, rows_of(range(12)))
    some = targets(channel, {"stain": level[3:6]}, rows_of(range(3, 6)))
    np.testing.assert_array_equal(whole.truth[3:6], some.truth)
    np.testing.assert_allclose(whole.oracle[3:6], some.oracle)
    clean = scan(channel, {"stain": level}, rows_of(range(12))).clean
    assert 0.02 < (clean < 0.5).mean() < 0.6


def test_targets_of_pages_are_the_pixels_of_clean_pages():
    channel, level = page_channel(), {"stain": np.linspace(0, 1, 12)}
    pages, made = scan(channel, level, rows_of(range(12))), clean_pages(channel, level, rows_of(range(12)))
    np.testing.assert_array_equal(made.truth, pages.clean.reshape(12, -1))
    dirty = pages.dirty.reshape(made.truth.shape)
    assert ((made.oracle - made.truth) ** 2).mean() < 0.2 * ((dirty - made.truth) ** 2).mean()


def test_dirt_follows_the_latent_columns():
    def pages(trait, level):
        return scan(page_channel(), {trait: np.full(20, level)}, rows_of(range(20)))

    for trait in ("stain", "rule", "ghost"):
        assert pages(trait, 1.0).light.mean() < pages(trait, 0.0).light.mean() - 0.01, trait
    assert np.diff(pages("grain", 1.0).dirty).std() > np.diff(pages("grain", 0.0).dirty).std()


@pytest.mark.parametrize("scene", SCENES)
def test_regions_are_as_many_and_as_large_as_latent_columns_say(scene):
    def share(**latents):
        values = {name: np.full(20, level) for name, level in latents.items()}
        return marked_regions(mask_channel(scene), values, rows_of(range(20))).truth.mean()

    assert share(amount=0.0, size=0.5) == 0
    assert 0 < share(amount=0.5, size=0.5) < share(amount=1.0, size=0.5)
    assert share(amount=1.0, size=0.0) < share(amount=1.0, size=1.0)


@pytest.mark.parametrize(("is_bright", "sign"), [(False, -1), (True, 1)])
def test_regions_are_dark_or_bright_and_crumbs_as_much_so_without_being_marked(is_bright, sign):
    channel, rows = mask_channel(is_bright=is_bright, stain=(0, 0), grain=(0, 0)), rows_of(range(20))
    latents = [{"crumbs": np.full(20, level)} for level in (0.0, 1.0)]
    plain, crumbed = (
        np.stack([np.asarray(Image.open(io.BytesIO(one)), dtype=float) for one in render_dirty(channel, latent, rows)])
        for latent in latents
    )
    marked, same = (scan(channel, latent, rows).clean < 0.5 for latent in latents)
    np.testing.assert_array_equal(marked, same)
    assert sign * (plain[marked].mean() - plain[~marked].mean()) > 30
    assert sign * (crumbed - plain)[~marked].sum() > 0


def test_the_oracle_of_masks_is_near_the_truth_and_worse_where_regions_are_faint():
    def score(**more):
        made = marked_regions(mask_channel(**more), {}, rows_of(range(40)))
        return get_metric("dice").score(made.truth, made.oracle)

    assert score(fade=(0.6, 0.8)) > 0.99
    assert 0.5 < score(fade=(0.1, 0.15), grain=(0.15, 0.2)) < 0.99


def test_lines_slip_to_the_left_in_turn_from_the_place_where_a_page_begins():
    begins = np.arange(len(SERIES))
    pages = slipped(SERIES, (begins + 0.5) / len(SERIES))
    for begin in begins:
        for line in range(20):
            slip = SERIES[(begin + line) % len(SERIES)]
            np.testing.assert_array_equal(pages.slipped[begin, line], np.roll(pages.dirty[begin, line], -slip))


def test_readers_undo_slips_exactly():
    pages = slipped(SERIES, np.linspace(0, 1, 60))
    back = moved_back(pages.slipped, SERIES)
    assert (back == pages.dirty).all(axis=(1, 2)).mean() >= 0.95
    assert (pages.slipped == pages.dirty).all(axis=(1, 2)).mean() == 0
    known = shifted(pages.slipped[:1], slips_at(SERIES, 0, 20))
    np.testing.assert_array_equal(known, pages.dirty[:1])


def test_a_series_has_slipped_lines_and_others():
    for share in (0.0, 0.1, 0.6, 1.0):
        for number in range(30):
            slips = choose_slips(share, (3, 8), np.random.default_rng(number))
            moved = sum(slip > 0 for slip in slips)
            assert 1 <= moved < len(slips)
            assert abs(moved - share * len(slips)) <= 1
            assert all(slip == 0 or 3 <= slip <= 8 for slip in slips)


def test_the_description_states_the_series_that_was_rendered(rendered):
    package, channel = rendered.package, rendered.package.spec.channel
    assert TaskSpec.model_validate_json(package.spec.model_dump_json()) == package.spec
    (cue,) = (cue for cue in channel.cues if cue.measure == "slip")
    text = package.public[DESCRIPTION].decode()
    assert cue.text in text
    assert ", ".join(map(str, channel.slips)) in text
    assert tuple(series_of(channel.cues)) == channel.slips


@of_masks
def test_a_package_holds_pictures_masks_and_runs_as_the_competition_does(rendered):
    package, facts = rendered.package, rendered.package.facts
    items = MASKS.read(package.public, facts, package.spec.feature_columns)
    mask = Image.open(io.BytesIO(package.public[f"{MASKS_FOLDER}{items.train[facts.id_column][0]}.png"]))
    assert mask_pixels(items.train[facts.target_column], facts)[0] == mask.tobytes()
    assert package.public["sample_submission.csv"].endswith(b",1 1\n")
    said = package.public["description.md"].decode()
    assert f"{facts.picture[0]} is the last pixel of the first column" in said
    assert "an empty mask scores 1" in said


@of_pages
def test_a_missing_clean_page_and_a_clean_test_page_are_found(rendered):
    package = rendered.package
    items = PAGES.read(package.public, package.facts, package.spec.feature_columns)
    cleaned, test = items.train[package.facts.target_column], items.test[package.spec.channel.column]
    assert list(clean_findings(cleaned, test)) == []
    known = pl.Series([grey_png(cleaned[0], package.facts.picture), *test[1:]])
    assert list(clean_findings(cleaned, known)) == ["1 test page equal to a clean training page"]
    path = CLEANED + items.train[package.facts.id_column][0] + ".png"
    without = {name: content for name, content in package.public.items() if name != path}
    assert PAGES.read(without, package.facts, package.spec.feature_columns).faults


@of_masks
def test_masks_that_are_not_those_of_the_table_are_faults(rendered):
    package, facts = rendered.package, rendered.package.facts

    def faults(**changed):
        files = {name.replace("__", "/"): content for name, content in changed.items()}
        return MASKS.read({**package.public, **files}, facts, package.spec.feature_columns).faults

    paths = sorted(path for path in package.public if path.startswith(MASKS_FOLDER))
    one, other = next((a, b) for a in paths for b in paths if package.public[a] != package.public[b])
    assert "are not the masks of train.csv" in faults(**{one: package.public[other]})[0]
    table = package.public["train.csv"].decode().splitlines()
    broken = "\n".join([table[0], table[1].split(",")[0] + ",5 1 1 1", *table[2:]]) + "\n"
    assert "no runs of pixels" in faults(**{"train.csv": broken.encode()})[0]
    without = {name: content for name, content in package.public.items() if name != one}
    assert MASKS.read(without, facts, package.spec.feature_columns).faults


@of_masks
def test_filters_mark_regions_and_misread_forms_cost(rendered, panel):
    names = ("prior", "empty_mask", "row_by_row", "from_zero", "inverted_mask", "smooth_curve", "plane_curve")
    found = merits(rendered, panel[1].run(names))
    assert merit(rendered, rendered.oracle) > max(found.values())
    assert min(found["smooth_curve"], found["plane_curve"]) > found["prior"] > found["empty_mask"]
    assert found["row_by_row"] < found["from_zero"] < found["smooth_curve"]
    assert found["inverted_mask"] < found["prior"]


def test_readers_see_pages_without_slips_and_others_see_them_as_they_are(rendered, panel):
    name = {"image_fields": "linear_patch", "image_masks": "smooth_curve"}[rendered.package.facts.kind]
    reading = panel[1].reading(rendered.package.spec.channel.cues)
    assert not np.array_equal(reading.dirty, panel[1].table.dirty)
    assert panel[1].reading(()) is None
    (solver,) = (entry for entry in panel[1].entries if entry.name == name)
    assert merit(rendered, solver.solve(reading)) > merits(rendered, panel[1].run([name]))[name]


def test_only_the_reference_script_undoes_slips(rendered):
    for script in ladder_of(rendered, rendered.package.spec.channel.cues):
        assert ("moved_back" in script.source) == (script.rung is Rung.REFERENCE)
        assert script.source.count("\n") <= 250
    assert not any("moved_back" in script.source for script in ladder_of(rendered))


@pytest.mark.slow
def test_the_panel_is_a_ladder(rendered, panel):
    runs = panel[1].run()
    assert [run.failure for run in runs] == [None] * len(runs)
    found = merits(rendered, runs)
    tiers = {tier: np.median([found[run.name] for run in runs if run.tier is tier]) for tier in Tier if tier in TIERS}
    assert tiers[Tier.STRONG] > tiers[Tier.COMPETENT] > max(tiers[Tier.TRIVIAL], tiers[Tier.NAIVE])


TIERS = (Tier.TRIVIAL, Tier.NAIVE, Tier.COMPETENT, Tier.STRONG)


@pytest.mark.slow
def test_scripts_write_valid_submissions_of_rising_worth_and_undoing_slips_pays(rendered, panel):
    first = {}
    for script in ladder_of(rendered, rendered.package.spec.channel.cues):
        first.setdefault(script.rung, script)
    found = {rung: run_script(rendered, script, panel[0]) for rung, script in first.items()}
    (best,) = panel[1].run(["boosted_features"])
    assert found["reference"] > merit(rendered, best.prediction)
    assert found["reference"] > found["competent"] > found["naive"]
    assert found["reference"] > run_script(rendered, ladder_of(rendered)[0], panel[0])


def test_no_contour_of_a_map_crosses_another():
    rng = np.random.default_rng(3)
    pages = Pages(height=20, width=34, font=1, numbers=rng.random((200, MOST_NUMBERS)), density=np.ones(200))
    lines = [(y, end) for x, y, to, end, _ in STYLES["map"](pages) if (to - x).min() > 1]
    heights = np.array(lines).reshape(5, -1, 2, 200)
    assert (np.diff(heights, axis=0) > 1).all()


def test_no_layer_crosses_another():
    rng, one = np.random.default_rng(3), np.ones((200, 1, 1))
    down, across = np.arange(-18.0, 18.0)[None, :, None], np.arange(-16.0, 16.0)[None, None]
    masks = REGIONS_OF["layer"](Regions(rng.random((200, NUMBERS, 1, 1)), 2 * one, one, one, down, across))
    # Each layer is one pixel high. Where a column shows both, they are as far from each other as in other columns.
    for mask in masks:
        apart = [np.ptp(np.flatnonzero(column)) for column in mask.T if column.sum() == 2]
        assert not apart or np.ptp(apart) <= 1


@pytest.mark.parametrize("trait", ["specks", "amount", "crumbs"])
def test_counts_are_stated_as_whole_numbers(trait):
    channel = mask_channel("grains")
    channel = channel.model_copy(update={"traits": (Ranged(trait=trait, column=trait, least=0.3, most=8.44),)})
    assert "0 to 8" in channel.cues[0].text
    assert channel.cues[0].parameters[-2:] == (0, 8)
