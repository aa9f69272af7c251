"""Difficulty of a design without a calibration of it, as the search for a band sees it first."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.readers import Stated
from sandmill.models.calibration import Difficulty
from sandmill.pipeline.contest import Contest
from sandmill.pipeline.measuring import probe_difficulty, probe_entries
from sandmill.synth import Pilot


def measure_difficulty(pilot: Pilot) -> Difficulty:
    """Run the entries that decide difficulty on the pilot, and return what they say."""
    with TemporaryDirectory(prefix="sandmill-panel-") as name:
        contest = Contest(Path(name), pilot.files, pilot.facts, Stated(()))
        return probe_difficulty(pilot, contest.run(probe_entries(pilot.facts.kind)))
