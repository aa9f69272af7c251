"""The wheel of this distribution holds its data files, and nothing of the library."""

import subprocess
import sys
from zipfile import ZipFile

import pytest

from tests.releases import REPOSITORY


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_its_data(tmp_path):
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(REPOSITORY / "learn")], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("sandmill_learn-*.whl")
    with ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
    source = REPOSITORY / "learn" / "src"
    files = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert names == {path.relative_to(source).as_posix() for path in files}
    assert "sandmill_learn/real/tables.yaml" in names
