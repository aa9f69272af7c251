"""Prose that an editor would mark is found, in frozen sentences of descriptions, and sound prose is left alone."""

import json
from collections import Counter
from pathlib import Path

import pytest

from sandmill.check.description_gate import prose_faults
from sandmill.check.gates import check_package
from sandmill.design import design_task
from sandmill.draw.describe import describe
from sandmill.draw.task_facts import task_facts
from sandmill.draw.tell import dictionary_file
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams
from sandmill.seeds import ingest
from tests.designs import SECRET
from tests.packages import KINDS, edit_text, make_package

CORPUS = json.loads((Path(__file__).parents[2] / "data" / "prose.json").read_text(encoding="utf-8"))
"""Sentences and short parts of descriptions, chosen by their templates and not by the check: 100 with a fault, most as
they were written and some with a fault put in, and 500 without."""
LEAST_FOUND, MOST_ALARMS, MOST_REFUSED = 0.9, 0.01, 0.01
STEP = 0.618034


def texts(per_seed):
    """Yield description and data dictionary of designs of all bundled seeds, over all domains, without rows."""
    seeds = ingest(()).supported
    for number in range(per_seed * len(seeds)):
        slot = Slot(number=number, seed=seeds[number % len(seeds)], band=Band.HARD, place=STEP * number % 1)
        spec = design_task(slot, Streams(SECRET, f"prose {number}"), (0.2, 0.6, 0.9)[number % 3])
        facts = task_facts(spec)
        sample = ",".join([facts.id_column, *facts.submission_columns]) + "\n"
        yield describe(spec, facts, sample.encode()), b"".join(dictionary_file(spec).values()).decode()


def test_most_faults_of_real_sentences_are_found():
    missed = [one for one in CORPUS["faulty"] if not prose_faults(one["text"])]
    assert len(CORPUS["faulty"]) == 100
    assert len(missed) <= (1 - LEAST_FOUND) * 100, Counter(one["fault"] for one in missed)


def test_sound_sentences_raise_no_alarm():
    alarms = [(text, faults) for text in CORPUS["sound"] if (faults := prose_faults(text))]
    assert len(CORPUS["sound"]) == 500
    assert len(alarms) <= MOST_ALARMS * 500, alarms


@pytest.mark.slow
def test_descriptions_of_every_kind_are_sound():
    faults = [[*prose_faults(text), *prose_faults(dictionary)] for text, dictionary in texts(1)]
    assert [found for found in faults if found] == []


@pytest.mark.slow
def test_few_of_many_descriptions_are_refused():
    refused = [bool(prose_faults(text) or prose_faults(dictionary)) for text, dictionary in texts(4)]
    assert sum(refused) <= MOST_REFUSED * len(refused)


def test_a_task_with_a_fault_is_refused():
    package = make_package(KINDS["grouped"])
    assert [finding for finding in check_package(package) if finding.gate == "prose"] == []
    spoiled = edit_text(package, "No `stable` of", "An `stable` of the the")
    found = [finding.detail for finding in check_package(spoiled) if finding.gate == "prose"]
    assert {detail.split(": ")[1] for detail in found} > {"the wrong article", "a word stands twice"}
    assert all(detail.startswith(f"{DESCRIPTION}: ") for detail in found)
