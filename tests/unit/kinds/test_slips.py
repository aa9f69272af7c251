"""Lines of dirty pages slip by the series that the description states, and those who read it undo this exactly."""

import numpy as np
import polars as pl
import pytest

from sandmill.calibrate.conditions import run_source, script_surroundings
from sandmill.calibrate.own_panel import OwnPanel
from sandmill.check import check_package
from sandmill.check.file_gates import pair_findings
from sandmill.draw import render
from sandmill.kinds.files.base import DESCRIPTION, write_files
from sandmill.kinds.page import panel as fields
from sandmill.kinds.page.channel import FieldsChannel, Ranged
from sandmill.kinds.page.design import choose_slips, design_pages
from sandmill.kinds.page.layout import grey_png
from sandmill.kinds.page.oracle import clean_pages
from sandmill.kinds.page.regressions import moved_back, series_of, shifted, slips_at
from sandmill.kinds.page.render import scan
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.base import Band
from sandmill.models.calibration import Rung, Tier
from sandmill.models.kind import kind_named
from sandmill.models.plan import Slot
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring.submission import parse_submission
from sandmill.seeds import ingest
from tests.designs import SECRET

SERIES = (0, 5, 0, 2, 0, 0, 6, 0)
RANGES = {"density": (0.6, 0.9), "weight": (1, 1.6), "grain": (0.02, 0.05), "fade": (0.6, 0.9), "slip": (0, 1)}


def channel_of(slips):
    traits = tuple(Ranged(trait=name, column=name, least=least, most=most) for name, (least, most) in RANGES.items())
    return FieldsChannel(
        column="page", meaning="A page", style="writing", height=20, width=24, font=7, traits=traits, slips=slips
    )


def scans(slips, begins):
    rows = RowNumbers(Streams(SECRET, "pages"), np.arange(len(begins)))
    return scan(channel_of(slips), {"slip": np.asarray(begins)}, rows)


@pytest.fixture(scope="module")
def rendered():
    seed = next(one for one in ingest(()).supported if one.id == "denoising-dirty-documents")
    spec = design_pages(Slot(number=0, seed=seed, band=Band.MEDIUM), Streams(SECRET, "slips"), 0.3)
    return render(spec.model_copy(update={"sizes": Sizes(train=60, feedback=100, final=100)}), SECRET)


def test_lines_slip_to_the_left_in_turn_from_the_place_where_a_page_begins():
    begins = np.arange(len(SERIES))
    pages = scans(SERIES, (begins + 0.5) / len(SERIES))
    for begin in begins:
        for line in range(20):
            slip = SERIES[(begin + line) % len(SERIES)]
            np.testing.assert_array_equal(pages.slipped[begin, line], np.roll(pages.dirty[begin, line], -slip))


def test_clean_pages_and_the_oracle_know_no_slips():
    begins = np.linspace(0, 1, 12)
    with_slips, without = scans(SERIES, begins), scans((), begins)
    np.testing.assert_array_equal(with_slips.clean, without.clean)
    np.testing.assert_array_equal(with_slips.dirty, without.slipped)
    rows = RowNumbers(Streams(SECRET, "pages"), np.arange(12))
    made = [clean_pages(channel_of(slips), {"slip": begins}, rows) for slips in (SERIES, ())]
    np.testing.assert_array_equal(made[0].oracle, made[1].oracle)


def test_readers_undo_slips_exactly():
    pages = scans(SERIES, np.linspace(0, 1, 60))
    back = moved_back(pages.slipped, SERIES)
    is_exact = (back == pages.dirty).all(axis=(1, 2))
    assert is_exact.mean() >= 0.95
    assert (pages.slipped == pages.dirty).all(axis=(1, 2)).mean() == 0
    known = shifted(pages.slipped[:1], slips_at(SERIES, 0, 20))
    np.testing.assert_array_equal(known, pages.dirty[:1])


def test_the_description_states_the_series_that_was_rendered(rendered):
    channel = rendered.package.spec.channel
    (cue,) = (cue for cue in channel.cues if cue.measure == "slip")
    text = rendered.package.public[DESCRIPTION].decode()
    assert cue.text in text
    assert ", ".join(map(str, channel.slips)) in text
    assert tuple(series_of(channel.cues)) == channel.slips
    assert check_package(rendered.package) == []


def test_a_series_has_slipped_lines_and_others():
    for share in (0.0, 0.1, 0.6, 1.0):
        for number in range(30):
            slips = choose_slips(share, np.random.default_rng(number))
            moved = sum(slip > 0 for slip in slips)
            assert 1 <= moved < len(slips)
            assert abs(moved - share * len(slips)) <= 1
            assert max(slips) <= 6


def test_readers_see_pages_without_slips_and_others_see_them_as_they_are(rendered, tmp_path):
    write_files(tmp_path, rendered.package.public)
    panel = OwnPanel(tmp_path, rendered.package.facts)
    reading = panel.reading(rendered.package.spec.channel.cues)
    assert not np.array_equal(reading.dirty, panel.table.dirty)
    assert reading.made == {}
    assert panel.reading(()) is None
    metric = {run.name: loss(rendered, run.prediction) for run in panel.run(["linear_features"])}
    first = next(entry for entry in fields.READERS if entry.name == "reader_linear")
    assert first.tier is Tier.READER
    read = loss(rendered, first.solve(reading))
    assert read < metric["linear_features"]


def test_the_kind_gives_gold_for_reading():
    kind = kind_named("image_fields")
    assert kind.medals == "milestones"
    assert set(fields.TWINS) == {entry.name for entry in fields.READERS}
    assert set(fields.TWINS.values()) <= {entry.name for entry in fields.ENTRIES}


def test_only_the_reference_script_undoes_slips(rendered):
    facts, cues = rendered.package.facts, rendered.package.spec.channel.cues
    for script in fields.ladder(facts, None, cues):
        assert ("moved_back" in script.source) == (script.rung is Rung.REFERENCE)
        assert script.source.count("\n") <= 250
    assert not any("moved_back" in script.source for script in fields.ladder(facts, None))


def test_pages_are_compared_with_their_clean_copies_under_the_same_slips():
    slips = (6, 2, 5, 3, 4, 6, 2, 0)
    pages = scans(slips, np.linspace(0, 1, 60))
    names = tuple(
        pl.Series([grey_png(page.astype(np.uint8).tobytes(), page.shape) for page in np.rint(255 * stack)])
        for stack in (pages.slipped[:40], pages.slipped[40:])
    )
    cleaned = pl.Series([page.astype(np.uint8).tobytes() for page in np.rint(255 * pages.clean[:40])])
    assert list(pair_findings(names[0], cleaned, names[1], slips, 24)) == []
    assert "resemble" in next(pair_findings(names[0], cleaned, names[1]))
    wrong = pl.Series(cleaned.to_list()[1:] + cleaned.to_list()[:1])
    assert "resemble" in next(pair_findings(names[0], wrong, names[1], slips, 24))


@pytest.mark.slow
def test_undoing_slips_pays_in_the_reference_script(rendered, tmp_path):
    write_files(tmp_path, rendered.package.public)
    facts, losses = rendered.package.facts, []
    for cues in (rendered.package.spec.channel.cues, ()):
        script = fields.ladder(facts, None, cues)[0]
        with script_surroundings(tmp_path, tmp_path / "submission.csv"):
            run_source(script.source, {"__name__": "__main__"})
        answer = parse_submission((tmp_path / "submission.csv").read_bytes(), facts, rendered.answers.ids)
        losses.append(loss(rendered, answer))
    assert losses[0] < losses[1]


def loss(rendered, prediction):
    return float(np.sqrt(((prediction - rendered.answers.truth) ** 2).mean()))
