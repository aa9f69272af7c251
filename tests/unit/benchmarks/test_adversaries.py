"""Adversaries are frozen, read what the generator writes, and find what is planted in a table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import adversaries
from benchmarks.adversaries import media
from benchmarks.adversaries.blind_v3 import Told, read_files
from benchmarks.adversaries.induced import induce, load, parse_with, save
from benchmarks.adversaries.texts import IN_WORDS, Doc, number_of, without_denied
from benchmarks.fidelity import FROZEN, digest_of
from benchmarks.fidelity_figures import NAMES
from benchmarks.real_tables import LISTS
from sandmill.calibrate.adversary.forms import Files, found_tables
from sandmill.calibrate.adversary.notes import note_values
from sandmill.calibrate.readers import stated_facts
from sandmill.kinds.files.base import write_files
from sandmill.models.hints import Form
from sandmill.models.package import TaskFacts
from tests.hinted_designs import small_rendered, told

FOLDER = Path(adversaries.__file__).parent
FACTS = TaskFacts(
    id_column="id", target_column="y", target="regression", metric="rmse", encoding="value", submission_columns=("y",)
)


def test_the_sources_of_a_frozen_adversary_never_change():
    kept = json.loads((FOLDER / "digests.json").read_text())
    found = {name: adversaries.digest_of(name) for name in adversaries.SOURCES} | media.digests()
    assert found == kept, "give a changed adversary a new name, and add its digest"


@pytest.mark.parametrize(
    ("words", "number"),
    [("twelve and a half", 12.5), ("two thirds", 2 / 3), ("three and three quarters", 3.75), ("two dozen", 24.0),
     ("one thousand two hundred and five", 1205.0), ("four point zero five", 4.05), ("minus six", -6.0),
     ("eighty-three hundredths", 0.83), ("1,250", 1250.0)],
)  # fmt: skip
def test_numbers_in_words_are_read_exactly(words, number):
    import re

    assert number_of(words) == pytest.approx(number)
    assert words[0].isdigit() or re.search(IN_WORDS, f"it is above {words}, they say")[0] == words


def test_what_a_text_denies_is_left_out():
    text = 'A is B. There is a rumour that goes, "Where the load is above 5, all is lost." It is not true. C is D.'
    assert "above 5" not in without_denied(text)
    kept = '"Anything above 7 is a case for me, always," the head says of the load.'
    assert without_denied(kept) == kept


def test_values_in_notes_are_found_by_the_words_around_them():
    kinds = ["hand line", "gill net", "seine"]
    fillers = ["Radio too loud.", "Paper got wet.", "Mate is to be married."]
    notes = [
        f"{fillers[row % 3]} Caught by {kinds[row * 7 % 3]}, as ever. Scale {('said', 'read')[row % 2]} {row}.5 kilos."
        for row in range(40)
    ]
    found = note_values(notes)
    assert ("gill net", "hand line", "seine") in [tuple(sorted(levels)) for _, levels in found]
    assert pd.Series(notes).str.extract(found[0][0])[0].astype(float).tolist() == [row + 0.5 for row in range(40)]


def _doc(folder, slot):
    package = small_rendered(slot).package
    write_files(folder, package.public)
    return Doc.read(folder, package.facts), package


def test_patterns_of_a_text_read_its_like(tmp_path):
    doc, package = _doc(tmp_path, 0)
    patterns = induce([(doc, package.spec.hints, stated_facts(package.spec, package.public))])
    assert patterns
    save(patterns, tmp_path / "patterns.json")
    assert load(tmp_path / "patterns.json") == patterns
    read = {fact.motif.motif for fact in parse_with(doc, patterns).facts if isinstance(fact, Form)}
    assert {form.motif.motif for form in told(package.spec) if form.motif.motif != "aggregate"} <= read


def _write(folder, frame, train=120):
    ids = [f"r{row}" for row in range(len(frame))]
    whole = frame.assign(id=ids)
    whole.iloc[:train].to_csv(folder / "train.csv", index=False)
    whole.iloc[train:].drop(columns="y").to_csv(folder / "test.csv", index=False)
    return Files.read(folder, FACTS, {})


def test_the_blind_search_finds_a_quotient_of_four_columns(tmp_path):
    rng = np.random.default_rng(0)
    columns = pd.DataFrame(np.exp(rng.normal(size=(300, 6))), columns=list("abcdef")).round(4)
    quotient = columns.a * columns.b / (columns.c * columns.d)
    files = _write(tmp_path, columns.assign(y=2.0 * (quotient > quotient.median()) + rng.normal(size=300) * 0.3))
    found, plain = found_tables(files)
    known = found.test[[name for name in found.test if name.startswith("found_")]]
    assert len(plain.test) == len(known) == 180
    assert max(abs(np.corrcoef(known[name], quotient[120:] > quotient.median())[0, 1]) for name in known) > 0.8


def test_the_average_of_forms_finds_a_condition_on_two_columns(tmp_path):
    rng = np.random.default_rng(0)
    columns = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde")).round(4)
    holds = (columns.a > columns.a.quantile(0.4)) & (columns.b <= columns.b.quantile(0.6))
    _write(tmp_path, columns.assign(y=2.0 * holds * columns.c + rng.normal(size=400) * 0.3))
    doc = Doc.read(tmp_path, FACTS)
    table = read_files(doc)
    told, rows = Told.of(table, doc), np.arange(120)
    bank = told.chosen(doc.train[["y"]].to_numpy(), [], rows)
    assert next(iter(bank.picked)) == "condition"
    found = bank.on_test(np.array([len(told.base.train)]))[:, 0]
    assert abs(np.corrcoef(found, (holds * columns.c)[120:])[0, 1]) > 0.9


def test_media_adversaries_blend_what_cross_validation_prefers_and_serve_kinds_of_their_modality():
    from benchmarks.adversaries.heads import answer, usual_models

    rng = np.random.default_rng(4)
    features = rng.normal(size=(260, 6))
    label = (features[:, 0] + features[:, 1] * features[:, 2] + rng.normal(size=260) / 3 > 0).astype(int).astype(str)
    facts = TaskFacts(
        id_column="id", target_column="y", target="binary", metric="roc_auc", encoding="probability",
        classes=("0", "1"), submission_columns=("y",),
    )  # fmt: skip
    table = pd.DataFrame({"id": [f"i{row}" for row in range(260)], "y": label})
    tables = table[:100], table[100:].drop(columns="y").reset_index(drop=True)
    found = answer(tables, facts, [((features[:100], features[100:]), usual_models()[:2]),
                                   ((features[:100] ** 2, features[100:] ** 2), usual_models()[:1])])  # fmt: skip
    assert found[label[100:] == "1"].mean() > found[label[100:] == "0"].mean() + 0.1
    assert media.adversary_of("image_labels").__name__ == "pictures_v1"
    assert media.adversary_of("json_rows").__name__ == "texts_v1"
    assert media.adversary_of("table") is None
    assert media.adversary_of("image_masks") is None


@pytest.mark.parametrize("name", LISTS)
def test_the_frozen_digest_is_that_of_list_traits_and_scales(name):
    frozen = json.loads(FROZEN.read_text())[name]
    assert frozen["tables"] == [table.name for table in LISTS[name]]
    assert len(frozen["scale"]) == len(NAMES)
    assert frozen["digest"] == digest_of(name, frozen["scale"])
    assert frozen["digest"] != digest_of(name, [*frozen["scale"][1:], 1.0])
