"""Check packages: gates on each package, and expectation suites over the tables of packages."""

from sandmill.quality.check import Checked, add_summaries, check_suites
from sandmill.quality.findings import Finding
from sandmill.quality.gates import GATES, Gate, check_package
from sandmill.quality.suites import load_suites

__all__ = ["GATES", "Checked", "Finding", "Gate", "add_summaries", "check_package", "check_suites", "load_suites"]
