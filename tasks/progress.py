"""Progress of a build: lines in the log of each shard."""

import time

from prefect.logging import get_run_logger

from sandmill.errors import count
from sandmill.models.plan import ShardPlan
from sandmill.pipeline.shard import Listener, ShardProgress

SECONDS_BETWEEN_LINES = 15.0
"""The log gets a line sooner if a task was made."""


def shard_reporter(shard: ShardPlan) -> Listener:
    """Log the state of a shard whenever a task was made, and else at most every 15 seconds."""
    logger, last_line = get_run_logger(), time.monotonic()

    def listen(progress: ShardProgress) -> None:
        nonlocal last_line
        if progress.is_news or time.monotonic() - last_line >= SECONDS_BETWEEN_LINES:
            last_line = time.monotonic()
            logger.info("%s: %s", shard.title, progress_line(progress, len(shard.slots)))

    return listen


def progress_line(progress: ShardProgress, slots: int) -> str:
    """Write one line. Designs off the band are no faults: the search for the band goes on from them."""
    other = f", {progress.made - progress.in_band} in another" if progress.made > progress.in_band else ""
    aside = f"{count(progress.steered, 'design')} off the band, {progress.rejected - progress.steered} faulty"
    return f"{progress.in_band} of {slots} tasks in band{other}; {aside}"
