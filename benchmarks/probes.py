"""Difficulty of a design without a calibration of it, as the search for a band sees it first."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stage import probe_difficulty, probe_entries
from sandmill.draw import Pilot
from sandmill.models.calibration import Difficulty


def measure_difficulty(pilot: Pilot) -> Difficulty:
    """Run the entries that decide difficulty on the pilot, and return what they say."""
    with TemporaryDirectory(prefix="sandmill-panel-") as name:
        contest = SolverRuns(Path(name), pilot.files, pilot.facts, Stated(()))
        return probe_difficulty(pilot, contest.run(probe_entries(pilot.facts.kind)))
