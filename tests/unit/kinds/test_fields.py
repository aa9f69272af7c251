"""Pages to clean: each follows from its own row, its oracle beats what learns from pages, and the panel is a ladder."""

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.check import check_package
from sandmill.check.file_gates import pair_findings
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.page import panel as fields
from sandmill.kinds.page.channel import FieldsChannel, Ranged
from sandmill.kinds.page.design import design_pages
from sandmill.kinds.page.layout import CLEANED, PAGES
from sandmill.kinds.page.oracle import clean_pages
from sandmill.kinds.page.render import render_dirty, scan
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring.submission import parse_submission
from sandmill.seeds import ingest
from tests.designs import SECRET

RANGES = {"density": (0.5, 0.9), "weight": (1, 1.6), "stain": (0.1, 0.4), "stain_size": (3, 7), "rule": (0.1, 0.4)}
RANGES |= {"rule_step": (4, 6), "ghost": (0, 0.3), "blur": (0, 0.1), "grain": (0.02, 0.05), "fade": (0.6, 0.9)}


def channel_of(style="writing", **more):
    traits = tuple(
        Ranged(trait=name, column=name, least=least, most=most) for name, (least, most) in (RANGES | more).items()
    )
    return FieldsChannel(column="page", meaning="A page", style=style, height=16, width=20, font=7, traits=traits)


def rows_of(numbers):
    return RowNumbers(Streams(SECRET, "pages"), np.array(numbers))


@pytest.fixture(scope="module")
def rendered():
    seed = next(one for one in ingest(()).supported if one.id == "denoising-dirty-documents")
    spec = design_pages(Slot(number=0, seed=seed, band=Band.MEDIUM), Streams(SECRET, "design"), 0.3)
    return render(spec.model_copy(update={"sizes": Sizes(train=60, feedback=100, final=100)}), SECRET)


@pytest.mark.parametrize("style", ["writing", "plan", "map", "score", "label"])
def test_a_page_follows_from_its_own_row(style):
    channel, level = channel_of(style), np.linspace(0, 1, 12)
    pages = render_dirty(channel, {"stain": level}, rows_of(range(12)))
    assert pages[3:6] == render_dirty(channel, {"stain": level[3:6]}, rows_of(range(3, 6)))
    assert len(set(map(len, pages))) == 1
    clean = scan(channel, {"stain": level}, rows_of(range(12))).clean
    np.testing.assert_array_equal(clean[3:6], scan(channel, {"stain": level[3:6]}, rows_of(range(3, 6))).clean)
    assert 0.02 < (clean < 0.5).mean() < 0.6


def test_targets_are_the_pixels_of_clean_pages_and_follow_from_their_own_row():
    channel, level = channel_of(), np.linspace(0, 1, 12)
    whole = clean_pages(channel, {"stain": level}, rows_of(range(12)))
    some = clean_pages(channel, {"stain": level[3:6]}, rows_of(range(3, 6)))
    np.testing.assert_array_equal(whole.truth[3:6], some.truth)
    np.testing.assert_allclose(whole.oracle[3:6], some.oracle)
    dirty = scan(channel, {"stain": level}, rows_of(range(12))).dirty.reshape(whole.truth.shape)
    assert ((whole.oracle - whole.truth) ** 2).mean() < 0.2 * ((dirty - whole.truth) ** 2).mean()


def test_dirt_follows_the_latent_columns():
    def pages(trait, level):
        return scan(channel_of(), {trait: np.full(20, level)}, rows_of(range(20)))

    for trait in ("stain", "rule", "ghost"):
        assert pages(trait, 1.0).light.mean() < pages(trait, 0.0).light.mean() - 0.01, trait
    assert np.diff(pages("grain", 1.0).dirty).std() > np.diff(pages("grain", 0.0).dirty).std()


def test_cues_state_what_they_measure():
    for cue in channel_of().cues:
        assert all(f"{part:g}" if isinstance(part, float) else part in cue.text for part in cue.parameters)


def test_a_package_holds_pages_as_the_competition_does(rendered):
    package = rendered.package
    assert check_package(package) == []
    names = sorted(path.removeprefix(CLEANED) for path in package.public if path.startswith(CLEANED))
    assert names == sorted(path.removeprefix("train/") for path in package.public if path.startswith("train/"))
    items = PAGES.read(package.public, package.facts, package.spec.feature_columns)
    truth = Image.open(io.BytesIO(package.public[CLEANED + names[0]]))
    assert items.train[package.facts.target_column][0] == truth.tobytes()
    assert b"_1_1," in package.public["sampleSubmission.csv"][:60]


def test_clean_pages_under_wrong_names_are_found(rendered):
    package = rendered.package
    items = PAGES.read(package.public, package.facts, package.spec.feature_columns)
    page, value = package.spec.channel.column, package.facts.target_column
    cells = items.train[page], items.train[value], items.test[page]
    slips, width = package.spec.channel.slips, package.facts.picture[1]
    assert list(pair_findings(*cells, slips, width)) == []
    wrong = pl.Series(cells[1].to_list()[1:] + cells[1].to_list()[:1])
    assert "resemble" in next(pair_findings(cells[0], wrong, cells[2], slips, width))
    path = CLEANED + items.train[package.facts.id_column][0] + ".png"
    without = {name: content for name, content in package.public.items() if name != path}
    assert PAGES.read(without, package.facts, package.spec.feature_columns).faults


@pytest.fixture(scope="module")
def panel(rendered, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    write_files(folder, rendered.package.public)
    return folder, OwnPanel(folder, rendered.package.facts)


def loss(rendered, prediction):
    return float(np.sqrt(((prediction - rendered.answers.truth) ** 2).mean()))


def test_filters_clean_and_misread_files_cost(rendered, panel):
    names = ("prior", "stretched_page", "swapped_places", "places_as_text", "background_curve", "linear_background")
    losses = {run.name: loss(rendered, run.prediction) for run in panel[1].run(names)}
    assert loss(rendered, rendered.oracle) < min(losses.values())
    assert max(losses["background_curve"], losses["linear_background"]) < losses["prior"]
    assert losses["swapped_places"] > losses["stretched_page"] < losses["places_as_text"]


@pytest.mark.slow
def test_the_panel_is_a_ladder(rendered, panel):
    runs = panel[1].run()
    assert [run.failure for run in runs] == [None] * len(runs)
    tiers = {tier: np.median([loss(rendered, run.prediction) for run in runs if run.tier is tier]) for tier in Tier}
    assert tiers[Tier.STRONG] < tiers[Tier.COMPETENT] < tiers[Tier.TRIVIAL] < tiers[Tier.NAIVE]


@pytest.mark.slow
def test_scripts_write_valid_submissions_of_rising_worth(rendered, panel):
    folder, facts, losses = panel[0], rendered.package.facts, {}
    for script in fields.ladder(facts, None, rendered.package.spec.channel.cues):
        if script.rung not in losses:
            with script_surroundings(folder, folder / "submission.csv"):
                run_source(script.source, {"__name__": "__main__"})
            answer = parse_submission((folder / "submission.csv").read_bytes(), facts, rendered.answers.ids)
            losses[script.rung] = loss(rendered, answer)
    (best,) = panel[1].run(["boosted_features"])
    assert losses["reference"] < loss(rendered, best.prediction)
    assert losses["reference"] < losses["competent"] < losses["naive"]
