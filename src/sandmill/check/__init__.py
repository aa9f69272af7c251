"""Check packages: gates on each package, and expectation suites over the tables of packages."""

from sandmill.check.gates import GATES, Finding, Gate, check_package
from sandmill.check.suites import check_suites, load_suites

__all__ = ["GATES", "Finding", "Gate", "check_package", "check_suites", "load_suites"]
