from sandmill.cli.ending import sum_up_set_aside
from sandmill.models.seed import UnsupportedSeed
from sandmill.seeds import ingest


def test_seeds_set_aside_are_named_and_their_needs_counted():
    seeds = [
        UnsupportedSeed(id="moths", needs=("modality image",)),
        UnsupportedSeed(id="bees", needs=("modality image", "metric dice")),
    ]
    assert sum_up_set_aside(seeds) == [
        "Seeds set aside: 2, each with its needs in reports/seeds.json: moths, bees.",
        "They need modality image (2), metric dice (1).",
    ]


def test_no_seed_set_aside_takes_no_line():
    assert sum_up_set_aside([]) == []


def test_many_seeds_take_no_more_lines_than_a_few():
    seeds = [UnsupportedSeed(id=f"seed-{n}", needs=(f"metric m{n % 30:02}", "modality image")) for n in range(60)]
    lines = sum_up_set_aside(seeds)
    assert lines[0].endswith("seed-8, seed-9 and 50 more.")
    assert lines[1].startswith("They need modality image (60), metric m00 (2), metric m01 (2),")
    assert lines[1].endswith("metric m08 (2) and 21 more.")


def test_the_bundled_seeds_that_wait_fit_into_a_few_lines_of_a_narrow_screen():
    lines = sum_up_set_aside(ingest(()).unsupported)
    assert sum(len(line) // 80 + 1 for line in lines) <= 10
