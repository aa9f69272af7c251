"""A description names every target, label and split, and gives no parameter of any motif, link or fault away."""

from datetime import date

import pytest

from sandmill.check.gates import check_package
from sandmill.check.giveaways import public_numbers, secret_numbers
from sandmill.models.columns import Column, Date, LogNormal, Trend, Uniform
from sandmill.models.faults import Duplicates, MixedTypes
from sandmill.models.links import NumbersLink, PositiveLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import BetweenCuts, Drift, Linear, Periodic, Saturation, Term
from tests.packages import KINDS, edit_text, make_package, make_spec

GROUPED, TEMPORAL = make_package(KINDS["grouped"]), make_package(KINDS["temporal"])
BY_UNIT = "No `stable` of `train.csv` occurs in `test.csv`."
BY_TIME = "All rows of `test.csv` are later than those of `train.csv`."


def details(package):
    return " | ".join(finding.detail for finding in check_package(package) if finding.gate == "description")


@pytest.mark.parametrize(
    ("kind", "old", "new", "problem"),
    [
        ("multilabel", "| `lame` |", "| this |", ""),
        ("label lists", "delayed, spilled, lame.", "delayed, spilled.", "does not list the labels lame"),
        ("multiclass", "journey_id,amber", "journey_id,red", "does not name the submission's columns amber"),
        ("dated", "| `day` |", "| this |", "does not name the columns day"),
    ],
)
def test_every_target_and_label_is_named_outside_of_the_example(kind, old, new, problem):
    found = details(edit_text(make_package(KINDS[kind]), old, new))
    assert problem in found if problem else found == ""


@pytest.mark.parametrize(
    ("package", "said", "words"),
    [
        (GROUPED, BY_UNIT, "No ward of train.csv occurs in test.csv."),
        (GROUPED, BY_UNIT, "`train.csv` and `test.csv` share no ward."),
        (TEMPORAL, BY_TIME, "Rows of test.csv come after those of train.csv."),
        (TEMPORAL, BY_TIME, "train.csv ends before test.csv begins."),
    ],
)
def test_a_split_may_be_said_in_several_ways(package, said, words):
    assert details(edit_text(package, said, words)) == ""


@pytest.mark.parametrize(
    ("package", "said", "words", "by"),
    [
        (GROUPED, BY_UNIT, "Each ward of train.csv occurs in test.csv.", "unit"),
        (GROUPED, BY_UNIT, "No ward occurs twice.", "unit"),
        (TEMPORAL, BY_TIME, "", "time"),
        (TEMPORAL, BY_TIME, "Rows are sorted by day. Later ones count more.", "time"),
    ],
)
def test_a_split_that_is_not_said_is_found(package, said, words, by):
    assert f"train and test are apart by {by}" in details(edit_text(package, said, words))


@pytest.mark.parametrize("words", ["a drift term", "negative binomial", "a duplicate rate"])
def test_words_of_the_new_motifs_links_and_faults_are_found(words):
    assert "speaks of the mechanism" in details(edit_text(TEMPORAL, "| start |", f"| start, with {words} |"))


def test_every_parameter_of_the_models_is_secret_and_what_the_files_show_is_not():
    mechanism = Mechanism(
        columns=(
            Column(name="day", distribution=Date(first=date(2019, 5, 5), days=731, train_days=547), decimals=0),
            Column(
                name="load_kg",
                distribution=LogNormal(median=51.234, sigma=0.4567),
                trend=Trend(by="day", per_year=0.789),
            ),
            Column(name="share", distribution=Uniform(low=11.25, high=98.75)),
        ),
        terms=(
            Term(motif=Linear(column="load_kg"), weights=(1.357, 2.468)),
            Term(motif=BetweenCuts(column="share", low=33.125, high=66.375), weights=(1.0, 1.0)),
            Term(motif=Saturation(column="load_kg", steepness=3.217), weights=(1.0, 1.0)),
            Term(motif=Periodic(column="day", period=731, phase=1.111), weights=(1.0, 1.0)),
            Term(motif=Drift(column="day", starts=(181.5, 402.5), levels=(-0.654, 0.321, 0.987)), weights=(1.0, 1.0)),
        ),
        link=NumbersLink(
            names=("fodder_kg", "water_l"),
            links=(
                PositiveLink(median=44.321, sigma=0.5432, noise=0.6543),
                PositiveLink(median=77.321, sigma=1.5432, noise=1.6543),
            ),
        ),
        pathologies=(Duplicates(rate=0.0876), MixedTypes(column="load_kg", rate=0.2345, suffix="kg")),
    )
    spec = make_spec().model_copy(update={"mechanism": mechanism})
    secret = secret_numbers(spec)
    hidden = {"1.111", "1.357", "33.125", "66.375", "3.217", "181.5", "402.5", "0.654", "0.321", "0.987", "0.789"}
    assert hidden | {"0.4567", "0.5432", "1.6543", "0.0876", "0.2345"} <= secret
    assert {"2019", "2021", "731", "547"} <= public_numbers(spec)
    assert not {"2019", "2021", "731", "547", "11.25", "98.75", "51.234"} & secret
