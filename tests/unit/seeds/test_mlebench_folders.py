"""All 82 competitions of MLE-bench, taken in at once: nothing is misread, whether their data are there or not."""

import pytest

from tests.mlebench_folders import judge, load_competitions, survey_all


def test_without_data_all_82_are_set_aside_for_reasons_that_hold(tmp_path):
    tally = survey_all(tmp_path / "competitions", with_data=False)
    assert tally.wrong == {}
    assert (len(tally.understood), len(tally.set_aside)) == (0, 82)


def test_with_data_the_tables_are_understood_and_the_others_set_aside_for_reasons_that_hold(tmp_path):
    tally = survey_all(tmp_path / "competitions", with_data=True)
    assert tally.wrong == {}
    assert tally.missed == []
    assert tally.understood == [
        "new-york-city-taxi-fare-prediction",
        "playground-series-s3e18",
        "spaceship-titanic",
        "tabular-playground-series-dec-2021",
        "tabular-playground-series-may-2022",
    ]
    assert len(tally.understood) + len(tally.set_aside) == 82


@pytest.mark.parametrize(
    ("change", "seed_id"),
    [
        ({"inputs": ("image",)}, "spaceship-titanic"),
        ({"target": "multiclass"}, "spaceship-titanic"),
        ({"metric": "f1"}, "spaceship-titanic"),
        ({"inputs": ("table",)}, "leaf-classification"),
    ],
)
def test_the_judge_finds_what_is_misread(tmp_path, change, seed_id):
    """A judge that finds no fault with anything would prove nothing."""
    from dataclasses import replace

    from sandmill.seeds import survey
    from tests.mlebench_folders import write_folder

    (competition,) = (one for one in load_competitions() if one.id == seed_id)
    write_folder(competition, tmp_path / seed_id, with_data=True)
    intake = survey((str(tmp_path / seed_id),))
    assert judge([competition], intake, with_data=True).wrong == {}
    assert judge([replace(competition, **change)], intake, with_data=True).wrong
