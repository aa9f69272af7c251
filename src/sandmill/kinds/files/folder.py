"""Write public files into a folder of this machine."""

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by relative path into an existing folder. Folders of nested paths are made, and hold nothing else."""
    for inner in sorted({path.rpartition("/")[0] for path in files} - {""}):
        (folder / inner).mkdir(parents=True, exist_ok=True)
        for old in (folder / inner).iterdir():
            if old.is_file():
                old.unlink()
    for path, content in files.items():
        (folder / path).write_bytes(content)
