"""Our scores and refusals against those of the field's graders, case by case, and every place where we differ."""

import math
from collections import Counter
from typing import Any

import pytest

from sandmill.errors import InvalidSubmission
from sandmill.models.base import Part
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission, read_answers
from tests.metric_cases import CASES, FAMILIES, prepare

REFUSED = "refused"

RANGE = "a probability or a pixel outside 0 to 1 is refused"
IDS = "ids are compared: an unknown, repeated or surplus id is refused"
ALIGNED = "rows and columns are aligned by id and name, so their order changes nothing"
LISTED = "a class that the task does not list is refused"
NOT_ROUNDED = "the score is not rounded to a whole number"
FINITE = "a constant column correlates with nothing and scores 0, so that every valid score is a number"
RUNS = "a run beyond the picture and half a pair of numbers are refused"
EMPTY = "a true mask may be empty"
UNSEEN = "a label that no row has counts as a false positive instead of being dropped"

DEVIATIONS: dict[str, tuple[float | str, str]] = {
    "jigsaw-toxic-comment-classification-challenge/random+out_of_range": (REFUSED, RANGE),
    "plant-pathology-2020-fgvc7/random+out_of_range": (REFUSED, RANGE),
    "playground-series-s3e18/random+out_of_range": (REFUSED, RANGE),
    "denoising-dirty-documents/random+out_of_range": (REFUSED, RANGE),
    "denoising-dirty-documents/unclipped": (REFUSED, RANGE),
    "nfl-player-contact-detection/random+out_of_range": (REFUSED, LISTED),
    "aptos2019-blindness-detection/random+out_of_range": (REFUSED, LISTED),
    "learning-agency-lab-automated-essay-scoring-2/random+out_of_range": (REFUSED, LISTED),
    "jigsaw-toxic-comment-classification-challenge/random+duplicate_id": (REFUSED, IDS),
    "new-york-city-taxi-fare-prediction/random+unknown_id": (REFUSED, IDS),
    "new-york-city-taxi-fare-prediction/random+duplicate_id": (REFUSED, IDS),
    "nomad2018-predict-transparent-conductors/random+unknown_id": (REFUSED, IDS),
    "nomad2018-predict-transparent-conductors/random+duplicate_id": (REFUSED, IDS),
    "google-quest-challenge/random+unknown_id": (REFUSED, IDS),
    "jigsaw-toxic-comment-classification-challenge/random+reordered_targets": (0.7109788359788359, ALIGNED),
    "nomad2018-predict-transparent-conductors/random+shuffled_rows": (0.1515132474815508, ALIGNED),
    "stanford-covid-vaccine/random+shuffled_rows": (0.3295229469606195, ALIGNED),
    "freesound-audio-tagging-2019/sparse+reordered_columns": (0.14251168070939427, ALIGNED),
    "spooky-author-identification/random+reordered_columns": (0.5711080760568263, ALIGNED),
    "predict-volcanic-eruptions-ingv-oe/random+shuffled_rows": (226462.168125, NOT_ROUNDED),
    "predict-volcanic-eruptions-ingv-oe/constant": (2161920.25, NOT_ROUNDED),
    "us-patent-phrase-to-phrase-matching/constant": (0.0, FINITE),
    "google-quest-challenge/constant_column": (0.7605761093661735, FINITE),
    "facebook-recruiting-iii-keyword-extraction/unseen_tag": (11 / 15, UNSEEN),
    "imet-2020-fgvc7/unseen_tag": (8 / 15, UNSEEN),
    "plant-pathology-2021-fgvc8/unseen_tag": (20 / 31, UNSEEN),
    "hubmap-kidney-segmentation/beyond_image": (REFUSED, RUNS),
    "hubmap-kidney-segmentation/odd_count": (REFUSED, RUNS),
    "hubmap-kidney-segmentation/empty_answer": (0.5, EMPTY),
}
"""Where we differ on purpose: what we say, and why."""


def ours(case: dict[str, Any]) -> float | str:
    """Score a case as the grader does, or say that it is refused."""
    prepared = prepare(case)
    answers = read_answers(prepared.answers, prepared.facts)
    try:
        prediction = parse_submission(prepared.submission, prepared.facts, answers.ids, answers.lengths)
    except InvalidSubmission:
        return REFUSED
    rows = answers.part(Part.FINAL)
    return get_metric(prepared.facts.metric).score(answers.truth[rows], prediction[rows])


def theirs(case: dict[str, Any]) -> float | str:
    return REFUSED if "invalid" in case else float(case["score"])


def agree(one: float | str, other: float | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=0, abs_tol=1e-9 * max(1.0, abs(other)))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_a_case_is_scored_as_by_the_fields_grader_or_differs_as_listed(case):
    said = ours(case)
    if case["name"] in DEVIATIONS:
        expected, reason = DEVIATIONS[case["name"]]
        assert agree(said, expected), reason
        assert not agree(said, theirs(case)), f"listed as different, and is not: {reason}"
    else:
        assert agree(said, theirs(case))


def test_every_listed_difference_is_a_case_and_every_family_has_scored_and_refused_ones():
    assert set(DEVIATIONS) <= {case["name"] for case in CASES}
    assert Counter(case["metric"] for case in CASES).keys() == FAMILIES.keys()
    for family in FAMILIES:
        said = {"invalid" in case for case in CASES if case["metric"] == family}
        assert said == {True, False}, family
