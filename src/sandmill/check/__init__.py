"""Check packages: gates on each package, and expectation suites over the tables of packages."""

from sandmill.check.gates import GATES, Finding, Gate, check_package
from sandmill.check.suites import Checked, add_summaries, check_suites, load_suites

__all__ = ["GATES", "Checked", "Finding", "Gate", "add_summaries", "check_package", "check_suites", "load_suites"]
