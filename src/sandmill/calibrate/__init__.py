"""Measure a task: the panel of fair solvers, leaderboard, thresholds, difficulty, and scripts that solve it."""

from sandmill.calibrate.calibrate import calibrate
from sandmill.calibrate.panel import PANEL, PanelRun, run_panel

__all__ = ["PANEL", "PanelRun", "calibrate", "run_panel"]
