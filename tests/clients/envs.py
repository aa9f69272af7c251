"""Make the virtual environments of clients: `python -m tests.clients.envs [NAME ...]`. See README.md in this folder."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
REQUIREMENTS = Path(__file__).parent / "requirements"
PLACE = REPOSITORY / ".clients"

_HEADER = re.compile(r"# (python|sandmill|pip): (.+)")


@dataclass(frozen=True)
class Client:
    """A package of a trainer or a benchmark with everything that it imports."""

    name: str

    @property
    def requirements(self) -> Path:
        """The complete list of its packages."""
        return REQUIREMENTS / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        """Its virtual environment."""
        return PLACE / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def header(self) -> dict[str, str]:
        """Settings in comments of the list: `python`, a version such as 3.12, and `sandmill` and `pip`, yes or no."""
        return dict(
            match.groups() for match in map(_HEADER.fullmatch, self.requirements.read_text().splitlines()) if match
        )

    @property
    def is_ready(self) -> bool:
        """Whether the environment was made to its end from this list."""
        mark = self.folder / ".ready"
        return mark.exists() and mark.read_text() == self._digest

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.requirements.read_bytes()).hexdigest()

    def make(self) -> None:
        """Install the packages. An environment that is complete is left alone; one that is not is finished."""
        if self.is_ready:
            return
        python = find_python(self.header.get("python", "3.11"))
        self.folder.mkdir(parents=True, exist_ok=True)
        for command in self._commands(python):
            subprocess.run(command, check=True, cwd=REPOSITORY)
        (self.folder / ".ready").write_text(self._digest)

    def _commands(self, python: str) -> Iterator[list[str]]:
        with_uv, target = shutil.which("uv"), str(self.python)
        if self.header.get("pip") == "yes":
            with_uv = None
        if with_uv:
            yield [with_uv, "venv", "--quiet", "--allow-existing", "--python", python, str(self.folder)]
            install = [with_uv, "pip", "install", "--quiet", "--python", target, "--no-deps"]
        else:
            yield [python, "-m", "venv", str(self.folder)]
            install = [target, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        yield [*install, "-r", str(self.requirements)]
        if self.header.get("sandmill") == "yes":
            yield [*install, "-e", str(REPOSITORY)]


def known_clients() -> list[str]:
    """Return the names of all clients, sorted."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def find_python(version: str) -> str:
    """Return the path of an interpreter of a version such as 3.12.

    Raises:
        SystemExit: if there is none; the message says where it was looked for.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [sys.executable, f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for candidate in candidates:
        code = "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])"
        try:
            said = subprocess.run([candidate, "-I", "-c", code], capture_output=True, text=True, check=False)
        except OSError:
            continue
        # A shim of pyenv exists for versions that are not active, and then fails.
        if said.returncode == 0 and said.stdout.split()[-1] == version:
            return said.stdout.split()[0]
    raise SystemExit(f"No Python {version} on the PATH or in {pyenv}. Install it, then run make test-clients again.")


def main(names: list[str]) -> None:
    """Make the environments of some clients, or of all."""
    if unknown := sorted(set(names) - set(known_clients())):
        raise SystemExit(f"Unknown client {', '.join(unknown)}; expected {', '.join(known_clients())}.")
    for name in names or known_clients():
        print(f"{name}: {PLACE / name}", file=sys.stderr)
        Client(name).make()


if __name__ == "__main__":
    main(sys.argv[1:])
