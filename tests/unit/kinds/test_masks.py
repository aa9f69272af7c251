"""Regions to be marked: each picture follows from its own row, decoys are no regions, and the panel is a ladder."""

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.check import check_package
from sandmill.check.file_gates import mask_findings
from sandmill.draw import render
from sandmill.kinds.files.base import write_files
from sandmill.kinds.page import mask_panel as masks
from sandmill.kinds.page.channel import MasksChannel, Ranged
from sandmill.kinds.page.design import design_pages
from sandmill.kinds.page.layout import MASKS, MASKS_FOLDER, mask_pixels
from sandmill.kinds.page.mask_panel import without_small
from sandmill.kinds.page.oracle import marked_regions
from sandmill.kinds.page.render import render_dirty, scan
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission
from sandmill.seeds import ingest
from tests.designs import SECRET

SCENES = ("bodies", "layer", "grains")
RANGES = {"amount": (0, 2.4), "size": (3, 5), "wave": (0.1, 0.4), "fade": (0.3, 0.5), "crumbs": (0, 6)}
RANGES |= {"stain": (0.1, 0.3), "stain_size": (3, 5), "blur": (0, 0.1), "grain": (0.02, 0.05)}


def channel_of(scene="bodies", *, is_bright=False, **more):
    traits = tuple(
        Ranged(trait=name, column=name, least=least, most=most) for name, (least, most) in (RANGES | more).items()
    )
    return MasksChannel(
        column="scene", meaning="A scene", scene=scene, is_bright=is_bright, height=24, width=30, traits=traits
    )


def rows_of(numbers):
    return RowNumbers(Streams(SECRET, "pictures"), np.array(numbers))


def dice(truth, named):
    return get_metric("dice").score(truth, named)


@pytest.fixture(scope="module")
def rendered():
    seed = next(one for one in ingest(()).supported if one.id == "hubmap-kidney-segmentation")
    spec = design_pages(Slot(number=0, seed=seed, band=Band.MEDIUM), Streams(SECRET, "design"), 0.4)
    return render(spec.model_copy(update={"sizes": Sizes(train=70, feedback=100, final=100)}), SECRET)


@pytest.mark.parametrize("scene", SCENES)
def test_a_picture_and_its_mask_follow_from_their_own_row(scene):
    channel, level = channel_of(scene), np.linspace(0, 1, 12)
    pictures = render_dirty(channel, {"fade": level}, rows_of(range(12)))
    assert pictures[3:6] == render_dirty(channel, {"fade": level[3:6]}, rows_of(range(3, 6)))
    assert len(set(map(len, pictures))) == 1
    whole = marked_regions(channel, {"fade": level}, rows_of(range(12)))
    some = marked_regions(channel, {"fade": level[3:6]}, rows_of(range(3, 6)))
    np.testing.assert_array_equal(whole.truth[3:6], some.truth)
    np.testing.assert_array_equal(whole.oracle[3:6], some.oracle)
    assert set(np.unique(whole.truth)) == {0, 1}
    assert 0.02 < whole.truth.mean() < 0.5


@pytest.mark.parametrize("scene", SCENES)
def test_regions_are_as_many_and_as_large_as_latent_columns_say(scene):
    def share(**latents):
        values = {name: np.full(40, level) for name, level in latents.items()}
        return marked_regions(channel_of(scene), values, rows_of(range(40))).truth.mean()

    assert share(amount=0.0, size=0.5) == 0
    assert 0 < share(amount=0.5, size=0.5) < share(amount=1.0, size=0.5)
    assert share(amount=1.0, size=0.0) < share(amount=1.0, size=1.0)


def test_masks_hold_columns_of_pixels_one_after_the_other():
    channel = channel_of("layer", amount=(1, 1))
    truth = marked_regions(channel, {}, rows_of(range(5))).truth
    regions = scan(channel, {}, rows_of(range(5))).clean < 0.5
    np.testing.assert_array_equal(truth.reshape(5, channel.width, channel.height).transpose(0, 2, 1), regions)


def test_regions_are_dark_or_bright_and_crumbs_as_much_so_without_being_marked():
    for is_bright, sign in ((False, -1), (True, 1)):
        channel = channel_of(is_bright=is_bright, stain=(0, 0), grain=(0, 0))
        none, many = ({"crumbs": np.full(20, level)} for level in (0.0, 1.0))
        plain, crumbed = (
            np.stack(
                [np.asarray(Image.open(io.BytesIO(one)), dtype=float) for one in render_dirty(channel, latent, rows)]
            )
            for latent, rows in ((none, rows_of(range(20))), (many, rows_of(range(20))))
        )
        marked = scan(channel, none, rows_of(range(20))).clean < 0.5
        np.testing.assert_array_equal(marked, scan(channel, many, rows_of(range(20))).clean < 0.5)
        assert sign * (plain[marked].mean() - plain[~marked].mean()) > 30
        assert sign * (crumbed - plain)[~marked].sum() > 0


def test_the_oracle_is_near_the_truth_and_worse_where_regions_are_faint():
    def score(**more):
        made = marked_regions(channel_of(**more), {}, rows_of(range(60)))
        return dice(made.truth, made.oracle)

    assert score(fade=(0.6, 0.8)) > 0.99
    assert 0.5 < score(fade=(0.1, 0.15), grain=(0.15, 0.2)) < score(fade=(0.2, 0.3), grain=(0.1, 0.12)) < 1


def test_cues_state_what_they_measure_and_in_which_shade():
    for is_bright in (False, True):
        cues = {cue.measure: cue for cue in channel_of(is_bright=is_bright).cues}
        assert ("brighter" if is_bright else "darker") in cues["fade"].text
        for cue in cues.values():
            assert all(f"{part:g}" if isinstance(part, float) else part in cue.text for part in cue.parameters)
            assert "{" not in cue.text


def test_a_package_holds_pictures_masks_and_runs_as_the_competition_does(rendered):
    package, facts = rendered.package, rendered.package.facts
    assert check_package(package) == []
    assert TaskSpec.model_validate_json(package.spec.model_dump_json()) == package.spec
    items = MASKS.read(package.public, facts, package.spec.feature_columns)
    assert items.faults == ()
    first = items.train[facts.id_column][0]
    mask = Image.open(io.BytesIO(package.public[f"{MASKS_FOLDER}{first}.png"]))
    assert set(np.unique(np.asarray(mask))) <= {0, 255}
    assert mask_pixels(items.train[facts.target_column], facts)[0] == mask.tobytes()
    assert package.public["train.csv"].splitlines()[0].decode() == f"id,{facts.target_column}"
    assert package.public["sample_submission.csv"].endswith(b",1 1\n")
    said = package.public["description.md"].decode()
    assert f"{facts.picture[0]} is the last pixel of the first column" in said
    assert "an empty mask scores 1" in said


def test_masks_that_are_not_those_of_the_table_are_faults(rendered):
    package, facts = rendered.package, rendered.package.facts

    def faults(**changed):
        files = {name.replace("__", "/"): content for name, content in changed.items()}
        return MASKS.read({**package.public, **files}, facts, package.spec.feature_columns).faults

    paths = sorted(path for path in package.public if path.startswith(MASKS_FOLDER))
    one, other = next((a, b) for a in paths for b in paths if package.public[a] != package.public[b])
    assert "are not the masks of train.csv" in faults(**{one: package.public[other]})[0]
    assert "no grey PNG" in faults(**{one: b"no picture"})[0]
    table = package.public["train.csv"].decode().splitlines()
    broken = "\n".join([table[0], table[1].split(",")[0] + ",5 1 1 1", *table[2:]]) + "\n"
    assert "no runs of pixels" in faults(**{"train.csv": broken.encode()})[0]
    without = {name: content for name, content in package.public.items() if name != one}
    assert MASKS.read(without, facts, package.spec.feature_columns).faults


def test_masks_under_wrong_names_are_found(rendered):
    package = rendered.package
    items = MASKS.read(package.public, package.facts, package.spec.feature_columns)
    pictures = items.train[package.spec.channel.column]
    marked = mask_pixels(items.train[package.facts.target_column], package.facts)
    assert list(mask_findings(pictures, marked)) == []
    (found,) = mask_findings(pictures, marked[1:] + marked[:1])
    assert "sigma" in found


def test_the_target_that_gates_judge_is_the_share_of_a_mask(rendered):
    package = rendered.package
    answers = pl.read_csv(package.private["answers.csv"], infer_schema=False)
    broken = answers.with_columns(pl.lit("9 9 9").alias(package.facts.target_column)).write_csv().encode()
    changed = package.model_copy(update={"private": {"answers.csv": broken}})
    assert any("masks that are no runs" in str(finding) for finding in check_package(changed))


@pytest.fixture(scope="module")
def panel(rendered, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    write_files(folder, rendered.package.public)
    return folder, OwnPanel(folder, rendered.package.facts)


def scores_of(rendered, runs):
    return {run.name: dice(rendered.answers.truth, run.prediction) for run in runs}


def test_filters_mark_regions_and_misread_forms_cost(rendered, panel):
    names = ("prior", "empty_mask", "row_by_row", "from_zero", "inverted_mask", "smooth_curve", "plane_curve")
    scores = scores_of(rendered, panel[1].run(names))
    assert dice(rendered.answers.truth, rendered.oracle) > max(scores.values())
    assert min(scores["smooth_curve"], scores["plane_curve"]) > scores["prior"] > scores["empty_mask"]
    assert scores["row_by_row"] < scores["from_zero"] < scores["smooth_curve"]
    assert scores["inverted_mask"] < scores["prior"]


def test_small_regions_of_one_picture_are_dropped_and_pictures_are_apart():
    marked = np.zeros((2, 6, 6), dtype=bool)
    marked[0, 1:4, 1:4] = marked[0, 5, 5] = marked[1, 2, 2] = True
    kept = without_small(marked, 4)
    assert kept[0].sum() == 9
    assert not kept[1].any()
    assert (without_small(marked, 0) == marked).all()


@pytest.mark.slow
def test_the_panel_is_a_ladder(rendered, panel):
    runs = panel[1].run()
    assert [run.failure for run in runs] == [None] * len(runs)
    scores = scores_of(rendered, runs)
    tiers = {tier: np.median([scores[run.name] for run in runs if run.tier is tier]) for tier in Tier if tier in TIERS}
    assert tiers[Tier.STRONG] > tiers[Tier.COMPETENT] > tiers[Tier.NAIVE]
    assert tiers[Tier.COMPETENT] > tiers[Tier.TRIVIAL]


TIERS = (Tier.TRIVIAL, Tier.NAIVE, Tier.COMPETENT, Tier.STRONG)


@pytest.mark.slow
def test_scripts_write_valid_submissions_of_rising_worth(rendered, panel):
    folder, facts, scores = panel[0], rendered.package.facts, {}
    for script in masks.ladder(facts, None):
        if script.rung not in scores:
            with script_surroundings(folder, folder / "submission.csv"):
                run_source(script.source, {"__name__": "__main__"})
            answer = parse_submission((folder / "submission.csv").read_bytes(), facts, rendered.answers.ids)
            scores[script.rung] = dice(rendered.answers.truth, answer)
    (best,) = panel[1].run(["boosted_features"])
    assert scores["reference"] > dice(rendered.answers.truth, best.prediction)
    assert scores["reference"] > scores["competent"] > scores["naive"]
