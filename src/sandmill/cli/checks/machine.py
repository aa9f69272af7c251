"""Check disk space and programs that some commands use."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sandmill.cli.checks.base import CheckResult

_DISK_FLOOR_GB = 1.0
"""Below this, builds and the installation of the agent environment are likely to fail."""

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def check_disk(root: str) -> Iterator[CheckResult]:
    """Check the free space at the root, if it is local, and in the folder for temporary files."""
    if "://" not in root:
        yield _check_space("free disk at the root", _nearest(Path(root).expanduser().absolute()))
    yield _check_space("free disk for temporary files", Path(tempfile.gettempdir()))


def _check_space(what: str, folder: Path) -> CheckResult:
    free = shutil.disk_usage(folder).free / 1e9
    saw = f"{free:.1f} GB in {folder}"
    if free < _DISK_FLOOR_GB:
        return CheckResult(what, "bad", saw, f"free {_DISK_FLOOR_GB:.0f} GB: du -xh -d 2 {folder} | sort -h | tail")
    return CheckResult(what, "ok", saw)


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    while not folder.is_dir():
        folder = folder.parent
    return folder


def check_browser() -> CheckResult:
    """Look for Chromium, which only tests of HTML pages use."""
    for name in _BROWSERS:
        if found := shutil.which(name):
            return CheckResult("chromium", "ok", found)
    return CheckResult("chromium", "info", "not found; only tests of HTML pages use it", "apt-get install chromium")
