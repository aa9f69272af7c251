"""Measure a task: the panel of fair solvers, leaderboard, thresholds, difficulty."""

from sandmill.calibrate.calibrate import calibrate
from sandmill.calibrate.panel import PANEL, PanelRun, run_panel, told_of
from sandmill.calibrate.script import standalone_script

__all__ = ["PANEL", "PanelRun", "calibrate", "run_panel", "standalone_script", "told_of"]
