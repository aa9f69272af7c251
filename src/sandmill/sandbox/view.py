"""List what the agent's code sees of the machine: system programs and libraries, the interpreter, its packages.

The list is an allow-list. Of `/usr` and of the Python installation it contains only the folders that programs and the
standard library need. `refuse_exposed` refuses a task that lies in one of them, since runs could read its answers. It
compares *places*: paths in a file system, independent of where that is mounted, such as `8:1/home/task`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from sandmill.errors import InputError, Problem
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.guest.template import DEVICES

_SYSTEM_FOLDERS = (
    *(f"{top}/{name}" for top in ("/usr", "") for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32")),
    "/usr/share/zoneinfo",
)
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_ENVIRONMENT_PATHS = ("bin", "lib", "lib64", "pyvenv.cfg")
_INSTALLATION_PATHS = (
    "bin/python",
    "bin/python3",
    "bin/python{version}",
    "lib/python{version}",
    "lib64/python{version}",
    "share/zoneinfo",
)
_LIBRARIES = "lib/*.so*"
"""Pattern of shared libraries of a Python installation that is not the one of the system."""
_OTHER_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages")
"""Patterns of packages of other interpreters, which are hidden."""
_MAX_LINKS = 16
"""Longest chain of symbolic links from the environment's interpreter to the program."""

FILES = {
    "/etc/passwd": "root:x:0:0::/:/usr/sbin/nologin\nagent:x:1000:1000::/box/home:/bin/sh\n",
    "/etc/group": "root:x:0:\nagent:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/shm": "/box/shm",
    "/var/tmp": "/box/tmp",
}
_MOUNTS = Path("/proc/self/mountinfo")
_ADVICE = "Move it to another folder. If it lies in the agent environment, move that instead"


def view_of(env: AgentEnv) -> dict[str, Any]:
    """Return the plan of the read-only root: `steps`, `folders`, `links` and `files` (see `guest/template.py`).

    Packages of other interpreters are hidden, and so is our own code if it lies in a shown folder. The agent's code can
    import only the pinned environment and the standard library.
    """
    system = [*map(Path, _SYSTEM_FOLDERS), *map(Path, _SYSTEM_FILES), *_installation(env)]
    shown = _outermost(path for path in system if path.exists() and not path.is_symlink())
    own = _outermost(
        path for name in _ENVIRONMENT_PATHS if (path := env.path / name).exists() and not path.is_symlink()
    )
    library = Path(__file__).resolve().parents[1]
    checkout = library.parents[1] if library.parent.name == "src" else library.parent
    prefixes = (Path("/usr"), Path("/"), Path("/usr/local"), env.base_prefix)
    packages = [path for prefix in prefixes for pattern in _OTHER_PACKAGES for path in sorted(prefix.glob(pattern))]
    hidden = [path for path in packages if path.is_dir() and not path.is_symlink() and is_inside(path, shown)]
    hidden += [checkout] if is_inside(checkout, shown) else []
    links = {
        str(path): str(path.readlink())
        for path in [*system, *(env.path / name for name in _ENVIRONMENT_PATHS)]
        if path.is_symlink() and not is_inside(path, [*shown, *own])
    }
    links |= _LINKS
    if not any(path.is_relative_to("/tmp") for path in [*shown, *own, *map(Path, links)]):
        links["/tmp"] = "/box/tmp"
    return {
        "steps": [
            *(["tree", str(path)] for path in shown),
            *(["mask", str(path)] for path in dict.fromkeys(hidden)),
            *(["tree", str(path)] for path in own),
        ],
        "folders": ["/proc", "/box", "/dev", "/etc", "/var"],
        "links": links,
        "files": FILES | {f"/dev/{device}": "" for device in DEVICES},
    }


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path is one of the folders or lies in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def _installation(env: AgentEnv) -> Iterator[Path]:
    version = ".".join(env.python_version.split(".")[:2])
    for name in _INSTALLATION_PATHS:
        yield env.base_prefix / name.format(version=version)
    if env.base_prefix != Path("/usr"):
        yield from sorted(env.base_prefix.glob(_LIBRARIES))
    # The links from the environment's interpreter to the program, each path on the way.
    link = env.python
    for _ in range(_MAX_LINKS):
        yield link
        if not link.is_symlink():
            return
        link = Path(os.path.normpath(link.parent / link.readlink()))


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Drop duplicates and paths that lie inside another one of the paths."""
    found = list(dict.fromkeys(paths))
    return [path for path in found if not is_inside(path, [other for other in found if other != path])]


def refuse_exposed(places: Mapping[str, Path], shown: tuple[Path, ...]) -> None:
    """Check that no run can read these paths through the folders that every run sees, also under another name.

    `places` are absolute paths, by their name in messages. Paths that do not exist are ignored. Raises `InputError` if
    a path lies in one of the shown files and folders.
    """
    problems = []
    mounts = _MOUNTS.read_bytes()
    for name, path in places.items():
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if through := _find_exposing_folder(path, (status.st_dev, status.st_ino), shown, mounts):
            saw = f"{path}, which lies in {through}" if path.is_relative_to(through) else f"{path}, a part of {through}"
            problems.append(Problem(name, saw, "a place outside the folders that every run can read", _ADVICE))
    if problems:
        raise InputError("run", problems, "Nothing was run.")


@lru_cache(maxsize=4096)
def _find_exposing_folder(
    path: Path, identity: tuple[int, int], shown: tuple[Path, ...], mount_list: bytes
) -> Path | None:
    """Return the shown folder through which a path can be read, or None.

    The result is cached until the path is another folder or the list of mounts changes.
    """
    real, place = path.resolve(), _locate(path, _parse_mounts(mount_list))
    for tree, (names, parts) in _locate_trees(shown, mount_list).items():
        if is_inside(real, names) or (place and is_inside(place, parts)):
            return tree
    return None


@lru_cache(maxsize=8)
def _locate_trees(shown: tuple[Path, ...], mount_list: bytes) -> dict[Path, tuple[list[Path], list[Path]]]:
    """Return, for each shown path, its names without and with links resolved, and its places.

    Its places are its own and those of everything that is mounted below it.
    """
    mounts, found = _parse_mounts(mount_list), {}
    for path in shown:
        names, place = [path, path.resolve()], _locate(path, mounts)
        inner = [root for root, at in mounts.values() if is_inside(at, names)]
        found[path] = names, [place, *inner] if place else inner
    return found


def _locate(path: Path, mounts: Mapping[int, tuple[Path, Path]]) -> Path | None:
    """Find the place of a path. Returns None if its mount is not listed, as after a chroot."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        facts = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
        real = Path(f"/proc/self/fd/{descriptor}").readlink()
    finally:
        os.close(descriptor)
    number = next(int(line.split()[1]) for line in facts if line.startswith("mnt_id:"))
    root, at = mounts.get(number, (None, Path("/")))
    return root / real.relative_to(at) if root and real.is_relative_to(at) else None


@lru_cache(maxsize=8)
def _parse_mounts(mount_list: bytes) -> dict[int, tuple[Path, Path]]:
    """Parse the content of /proc/self/mountinfo. Returns the mounted place and the mount point by number."""
    found = {}
    for line in mount_list.splitlines():
        number, _, device, root, at, *_ = line.split()
        found[int(number)] = Path(f"{device.decode()}/{_unescape(root)}"), _unescape(at)
    return found


def _unescape(field: bytes) -> Path:
    """Decode the octal escapes that mountinfo uses for spaces, line feeds and backslashes."""
    return Path(os.fsdecode(field.decode("unicode_escape").encode("latin-1") if b"\\" in field else field))
