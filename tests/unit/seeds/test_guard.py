"""Salted hashes by which a task is known to hold no row and no rare value of a seed."""

import polars as pl
import pytest

from sandmill.seeds.guard import find_leaks, make_guard

ROWS = 60


def _seed(**columns):
    return pl.DataFrame(
        {
            "customer": [f"Okonkwo-{n} Brandt" for n in range(ROWS)],
            "balance": [f"{1_000_000 + n * 7.123456:.6f}" for n in range(ROWS)],
            "weight": [f"{n * 1.37:.2f}" for n in range(ROWS)],
            "age": [str(20 + n % 9) for n in range(ROWS)],
            "paid": ["yes", "no"] * 30,
            "day": [f"2024-01-{n % 28 + 1:02d}" for n in range(ROWS)],
        }
        | columns
    )


def _task(**columns):
    return pl.DataFrame(
        {
            "a": [str(n % 13) for n in range(200)],
            "b": [f"{n * 0.11:.2f}" for n in range(200)],
            "c": ["yes", "no"] * 100,
            "d": [f"2024-01-{n % 28 + 1:02d}" for n in range(200)],
        }
        | columns
    )


def test_a_task_that_shares_only_small_numbers_dates_and_yes_or_no_holds_nothing_of_the_seed():
    assert list(find_leaks(make_guard(_seed()), _task())) == []


@pytest.mark.parametrize(
    "planted", ["Okonkwo-7 Brandt", "  okonkwo-7   BRANDT ", f"{1_000_000 + 5 * 7.123456:.6f}", "1000035.61728"]
)
def test_a_planted_rare_value_is_found_however_it_is_written(planted):
    task = _task(b=[planted, *["1.5"] * 199])
    assert list(find_leaks(make_guard(_seed()), task)) == ["1 rare values of the seed in column b"]


def test_a_planted_row_is_found_whatever_the_names_and_order_of_its_columns():
    seed = _seed().select("age", "paid", "day", "weight", pl.col("balance").str.slice(0, 9).alias("short"))
    row = seed.row(17)
    task = _task().select(pl.lit(cell).alias(f"x{place}") for place, cell in enumerate(reversed(row)))
    assert list(find_leaks(make_guard(seed), task)) == ["1 rows of the seed"]
    changed = task.with_columns(x0=pl.lit("1000035.1"))
    assert list(find_leaks(make_guard(seed), changed)) == []


def test_the_numbers_of_a_row_are_found_beside_other_words():
    seed = _seed().select("weight", pl.col("balance").str.slice(0, 9).alias("short"), "paid")
    weight, short, _ = seed.row(31)
    task = pl.DataFrame({"p": [weight], "q": ["something else"], "r": [short]})
    assert list(find_leaks(make_guard(seed), task)) == ["1 rows of the seed"]


def test_a_row_of_common_cells_is_judged_no_leak():
    seed = pl.DataFrame({"age": [str(n % 40) for n in range(ROWS)], "paid": ["yes", "no"] * 30})
    assert list(find_leaks(make_guard(seed), seed.rename({"age": "a", "paid": "b"}))) == []


@pytest.mark.parametrize("word", ["harbour", "Anderson"])
def test_words_that_the_domains_and_name_lists_of_the_library_use_are_not_rare_values(word):
    seed = _seed(paid=[word, *["no"] * (ROWS - 1)])
    assert list(find_leaks(make_guard(seed), _task(c=[word] * 200))) == []
