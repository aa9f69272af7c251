"""The card says what a release is and gives nothing away."""

import io
import re
import wave
from base64 import b64decode
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
import yaml

from sandmill.kinds.audio.render import aiff_bytes
from sandmill.models.base import Band
from sandmill.models.calibration import LOOSE, Ceiling, MilestoneEntry, Milestones, Rung, ScriptScore, Tier
from sandmill.models.hints import Hint, Sentinel
from sandmill.report.card import dataset_card
from sandmill.report.digest import best_score_in_words, board_rows, headline, reading_table
from sandmill.report.samples import sample_files
from sandmill.report.text_tables import TextTable, ending_table, to_markdown, to_text
from tests.factories import CALIBRATION
from tests.report_records import GOLD, RECORDS, make_counts, make_manifest


def front_matter(card):
    return yaml.safe_load(card.split("---\n")[1])


def test_the_front_matter_gives_each_split_that_exists_its_own_files():
    facts = front_matter(dataset_card(make_manifest(), make_counts(RECORDS)))
    assert facts["license"] == "apache-2.0"
    assert facts["size_categories"] == ["n<1K"]
    configs = {config["config_name"]: config["data_files"] for config in facts["configs"]}
    assert configs == {
        table: [
            {"split": "train", "path": f"public/{table}-train-*.parquet"},
            {"split": "held_out_motif", "path": f"public/{table}-held_out_motif-*.parquet"},
        ]
        for table in ("tasks", "files")
    }


def test_the_card_names_no_task_no_threshold_and_no_part_of_a_rule():
    card = dataset_card(make_manifest(), make_counts(RECORDS))
    secrets = {f"{value:.{digits}f}" for digits in (2, 3, 4, 5) for value in (GOLD, GOLD + 0.05, GOLD - 0.3)}
    assert not secrets & set(re.findall(r"\d+\.\d+", card))
    for word in (*(record.task_id for record in RECORDS), "interaction", "threshold at", "61.375", "ratio-search"):
        assert word not in card


def test_the_card_counts_tasks_by_reading_level_and_band_and_says_what_reading_gains():
    told = RECORDS[0].spec.model_copy(
        update={"hints": (Hint(fact=Sentinel(column="a", value=-9.0), text="t", level="spread"),)}
    )
    measured = RECORDS[0].calibration
    best = measured.board[0].model_copy(update={"solver": "r", "tier": Tier.READER, "final": measured.oracle})
    read = RECORDS[0].model_copy(
        update={"spec": told, "calibration": measured.model_copy(update={"board": (best, *measured.board)})}
    )
    assert read.calibration.reading_gain == pytest.approx(0.04 / 0.35, abs=1e-6)
    assert RECORDS[0].calibration.reading_gain is None
    rows = {row[0]: row[1:] for row in reading_table(make_counts([*RECORDS, read])).rows}
    band = list(Band).index(read.reached)
    assert rows["spread"][band] == "1"
    assert rows["spread"][-1] == "0.11"
    assert sum(map(int, rows["none"][:-1])) == len(RECORDS)
    assert rows["none"][-1] == ""
    assert "| spread |" in dataset_card(make_manifest(), make_counts([read]))


def test_the_mix_says_what_was_asked_and_what_was_reached():
    card = dataset_card(make_manifest(), make_counts(RECORDS))
    assert "| hard | 2 | 1 | 50% |" in card
    assert "| expert | 0 | 0 | - |" in card


def test_the_gold_rate_is_that_of_the_best_single_solver_in_the_metrics_direction():
    counts = make_counts(RECORDS)
    assert counts.names["golds"] == {"ratio-search": 4, "forest": 2}
    assert counts.rate("best_solver_gold") == (4, 4)


def test_the_card_says_what_is_known_of_the_best_possible_scores():
    ends = {"exact": (0.9, True), "plug_in": (0.9, False), "near": (0.86, True), "far": (0.78, False)}
    counts = make_counts([])
    for name, (low, is_exact) in ends.items():
        found: dict[str, object] = {"oracle_is_exact": is_exact}
        if low < CALIBRATION.oracle:
            found["ceiling"] = Ceiling(low=low, high=CALIBRATION.oracle, kind="bracket")
        measured = CALIBRATION.model_copy(update=found)
        counts.add(RECORDS[0].model_copy(update={"calibration": measured, "task_id": name}))
        words = best_score_in_words(measured)
        assert words.startswith({"exact": "exact", "plug_in": "plug-in"}.get(name, "an upper bound; 0."))
    said = (
        "the best possible score is computed: exact on 1 of 4 tasks, between two bounds on 2 "
        "(median 20% of the gap apart, at most 30%), a plug-in estimate on 1."
    )
    assert said in dataset_card(make_manifest(), counts)


def test_brackets_that_rewards_end_in_are_counted_apart():
    counts = make_counts([])
    for name, low, limit in (("wide", 0.7, LOOSE), ("narrow", 0.88, LOOSE), ("older", 0.7, None)):
        ceiling = Ceiling(low=low, high=CALIBRATION.oracle, kind="bracket", loose_above=limit)
        measured = CALIBRATION.model_copy(update={"ceiling": ceiling})
        counts.add(RECORDS[0].model_copy(update={"calibration": measured, "task_id": name}))
    assert counts.names["ceilings"] == {"wide_bracket": 1, "bracket": 2}
    assert "between two bounds on 3" in dataset_card(make_manifest(), counts)
    assert "; rewards of 1 end at the lower one)" in dataset_card(make_manifest(), counts)


def test_the_ending_table_names_the_band_that_was_missed():
    rows = ending_table(RECORDS).rows
    assert rows[0][4] == "0.40 medium"
    assert rows[2][4] == f"0.30 medium (asked {Band.HARD})"


def test_cells_are_shown_as_they_are():
    table = TextTable("T", ("a", "b"), (("x|y", "[bold]1[/bold]"),), frozenset({1}))
    assert to_markdown(table) == "| a | b |\n| --- | ---: |\n| x\\|y | [bold]1[/bold] |"
    assert to_text(table, 80).splitlines()[-1] == "x|y  [bold]1[/bold]"


def test_a_row_that_is_too_long_goes_on_in_the_next_line():
    table = TextTable("", ("task", "domain", "gold"), (("sm1", "a-long-domain", "0.5"),), frozenset({2}))
    assert to_text(table, 80).splitlines() == [
        "task  domain         gold",
        "-------------------------",
        "sm1   a-long-domain   0.5",
    ]
    assert to_text(table, 20).splitlines() == [
        "task  domain",
        "  gold",
        "------------",
        "sm1   a-long-domain",
        "   0.5",
    ]


def test_the_headline_counts_kinds_and_the_seeds_that_tasks_were_made_from():
    said = " ".join(make_counts(RECORDS).headline())
    assert "4 tasks of 1 kind, made from 1 seed." in said
    assert "3 of 4 lie in the difficulty band that was asked for" in said
    assert "on 4 of 4 a reference solution" in said
    assert "Gold is reached on 100% of the tasks by the solver that wins most from the data alone." in said


def test_a_release_of_older_code_has_a_headline_without_seeds_and_shares():
    assert headline(1, 1, 2, {}) == ["1 task of 1 kind."]


def test_gold_of_readers_is_counted_where_gold_follows_from_readers():
    gold = CALIBRATION.thresholds.gold
    entry = MilestoneEntry(solver="r", tier=Tier.READER, final=gold, feedback=gold, shares=(0.5,))
    counts = make_counts([])
    for rule in ("readers", "margin"):
        found = Milestones(gold=rule, feedback_oracle=gold, entries=(entry,))
        counts.add(RECORDS[0].model_copy(update={"calibration": CALIBRATION.model_copy(update={"milestones": found})}))
    assert counts.rate("reader_gold") == (1, 1)


def test_a_leaderboard_holds_thresholds_and_scripts_in_the_order_of_their_scores():
    script = ScriptScore(
        rung=Rung.REFERENCE,
        file="solution.py",
        approach="a linear model",
        feedback=0.5,
        final=CALIBRATION.thresholds.gold,
    )
    rows = board_rows(CALIBRATION.model_copy(update={"scripts": (script,)}))
    names = [row[0] for row in rows]
    assert names.index("solution.py") < names.index("gold") < names.index("silver") < names.index("bronze")
    assert {entry.solver for entry in CALIBRATION.board} <= set(names)
    gaps = [row[-1] for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert {row[1] for row in rows} >= {"threshold", "script: a linear model"}


PIL = pytest.importorskip("PIL.Image")


def picture(side: int = 8) -> bytes:
    out = io.BytesIO()
    PIL.new("L", (side, side), 128).save(out, "png")
    return out.getvalue()


def archive(files: dict[str, bytes], compression: int = ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", compression) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def test_first_rows_and_pictures_are_taken():
    public = {
        "description.md": b"# Title",
        "train.csv": b"id,size,kind\na,1,x\nb,2,x\nc,,y\n",
        "test.csv": b"id,size,kind\nd,3,x\n",
        "sample_submission.csv": b"id,t\nd,0\n",
        "train_images.zip": archive({"a.png": picture()}),
    }
    found = sample_files(public, 10_000)
    assert [table.path for table in found.tables] == ["train.csv", "test.csv"]
    assert found.tables[0].rows == (("a", "1", "x"), ("b", "2", "x"), ("c", "", "y"))
    (item,) = found.media
    assert b64decode(item.uri.removeprefix("data:image/png;base64,")) == picture()


def test_media_stay_within_their_bytes_and_the_page_says_so():
    found = sample_files({"train/a.png": picture()}, 10)
    assert found.media[0].uri == ""
    assert "left out" in found.media[0].note


def test_strange_files_are_named_and_not_embedded():
    public = {
        "train.zip": archive({"a.png": bytes(1_000_000)}, ZIP_DEFLATED),
        "train/b.png": b"<svg onload=alert(1)>",
        "train/c.svg": b"<svg onload=alert(1)>",
    }
    found = sample_files(public, 10_000)
    assert [item.uri for item in found.media] == ["", ""]


@pytest.mark.parametrize(("kind", "most"), [(np.int8, 90), (np.int16, 9000)])
def test_sounds_that_browsers_cannot_play_are_rewritten(kind, most):
    samples = (most * np.sin(np.arange(500) / 9)).astype(kind)
    found = sample_files({"train/a.aif": aiff_bytes(samples, 2000)}, 100_000)
    assert found.media[0].uri.startswith("data:audio/wav;base64,")
    with wave.open(io.BytesIO(b64decode(found.media[0].uri.partition(",")[2]))) as file:
        assert (file.getframerate(), file.getsampwidth()) == (8000, 2)
        heard = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert (heard[::4] == samples * (1.0 if kind is np.int16 else 256.0)).all()


def test_pictures_and_sounds_come_before_texts_and_a_picture_of_each_folder_first():
    names = [f"train/{folder}/{number}.png" for folder in ("images", "masks") for number in range(4)]
    public = {"train/names.txt": b"x", **dict.fromkeys(names, picture())}
    shown = [item.path for item in sample_files(public, 10_000).media]
    assert shown[:3] == ["train/images/0.png", "train/masks/0.png", "train/images/1.png"]
    assert "train/names.txt" not in shown


def test_a_sound_of_an_impossible_rate_is_named_and_not_embedded():
    sound = aiff_bytes(np.zeros(100, np.int16), 2000)
    place = sound.index(b"COMM") + 16
    found = sample_files({"train/a.aif": sound[:place] + b"\x3f\xff" + bytes(8) + sound[place + 10 :]}, 10_000)
    assert (found.media[0].uri, found.media[0].note) == ("", "an item that cannot be shown")


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_tiff_pictures_are_shown_as_png(mode):
    out = io.BytesIO()
    drawn = PIL.new(mode, (6, 4), 100)
    drawn.save(out, "tiff")
    (item,) = sample_files({"train/a.tif": out.getvalue()}, 10_000).media
    shown = PIL.open(io.BytesIO(b64decode(item.uri.removeprefix("data:image/png;base64,"))))
    assert (shown.mode, shown.size, shown.tobytes()) == (mode, (6, 4), drawn.tobytes())


def test_damaged_items_are_named_and_never_an_error():
    out = io.BytesIO()
    PIL.new("RGB", (6, 4), 100).save(out, "tiff")
    items = {"a.tif": out.getvalue(), "a.aif": aiff_bytes(np.zeros(50, np.int16), 2000)}
    rng = np.random.Generator(np.random.PCG64(1))
    for name, whole in items.items():
        for _ in range(300):
            content = bytearray(whole)
            for place in rng.integers(0, len(content), 3):
                content[place] = rng.choice((0, 1, 2, 128, 255))
            (item,) = sample_files({f"train/{name}": bytes(content)}, 10_000).media
            assert bool(item.uri) != bool(item.note)
