"""One line for all shards and rounds of a build, from what each shard wrote into the labels of the flow run."""

from dataclasses import replace

from sandmill.models.base import Stage
from sandmill.pipeline.shard import ShardProgress
from tasks.progress import _PROGRESS, LABEL, BuildProgress

FIRST = ShardProgress(Stage.CALIBRATE, made=3, rejected=5, in_band=2, steered=4)
SECOND = ShardProgress(Stage.VERIFY, made=1, rejected=3, in_band=1, steered=3)


def labels(**shards: ShardProgress) -> dict[str, str]:
    texts = {LABEL + name: _PROGRESS.dump_json(progress).decode() for name, progress in shards.items()}
    return {"prefect.flow.id": "1", **texts}


def test_the_line_adds_up_all_shards_wherever_they_are_filled():
    progress = BuildProgress(20, "designing")
    assert progress.line() == "0 of 20 tasks in band; designing; 0 designs off the band, 0 faulty"
    nothing = ShardProgress(Stage.DESIGN, made=0, rejected=0)
    progress.hear(labels(a=nothing, b=nothing))
    progress.hear(labels(a=FIRST, b=SECOND))
    assert progress.line() == (
        "3 of 20 tasks in band, 1 in another; measuring difficulty; 7 designs off the band, 1 faulty"
    )


def test_a_later_round_goes_on_where_the_first_ended():
    progress = BuildProgress(20, "designing")
    done = [replace(one, made=9, in_band=9, is_stored=True) for one in (FIRST, SECOND)]
    progress.hear(labels(a=done[0], b=done[1]))
    again = ShardProgress(Stage.CALIBRATE, made=1, rejected=2, in_band=1, steered=2)
    progress.hear(labels(a=done[0], b=done[1], c=again))
    assert progress.line().startswith("19 of 20 tasks in band")


def test_finished_shards_of_an_earlier_run_count_at_once():
    progress = BuildProgress(20, "designing")
    kept = replace(FIRST, made=10, in_band=10, is_stored=True)
    progress.hear(labels(a=kept))
    assert progress.line() == (
        "10 of 20 tasks in band (10 kept from before); designing; 4 designs off the band, 1 faulty"
    )
