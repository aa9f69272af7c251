"""What the agent's code sees of the machine: the operating system's programmes, the interpreter, its packages."""

from pathlib import Path
from typing import Any

from sandmill.sandbox.agent_env import AgentEnv

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_OTHER_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages")
DEVICES = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}
"""Equal to DEVICES of `guest/template.py`."""

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


def view_of(env: AgentEnv) -> dict[str, Any]:
    """Plan the read-only part of the root: `steps`, then `folders`, `links` and `files` (see `guest/template.py`).

    Packages of other interpreters are hidden, and so is our own code, should it lie below a folder that is shown:
    what the agent's code can import is the pinned environment and the standard library.
    """
    system = [path for path in _SYSTEM if Path(path).is_dir() and not Path(path).is_symlink()]
    settings = [path for path in _SETTINGS if Path(path).exists() and not Path(path).is_symlink()]
    base = [] if _is_below(env.base_prefix, system) else [str(env.base_prefix)]
    shown = [*system, *settings, *base]
    hidden = [*_other_packages([Path(path) for path in (*system, "/usr/local", *base)]), *_own_code(shown)]
    links = {path: str(Path(path).readlink()) for path in (*_SYSTEM, *_SETTINGS) if Path(path).is_symlink()}
    links |= _LINKS
    if not _is_below(Path("/tmp"), [], [*shown, str(env.path)]):
        links["/tmp"] = "/box/tmp"
    return {
        "steps": [
            *(["tree", path] for path in shown),
            *(["mask", path] for path in dict.fromkeys(hidden)),
            ["folder", str(env.path)],
        ],
        "folders": ["/proc", "/box", "/dev", "/etc", "/var"],
        "links": links,
        "files": FILES | {f"/dev/{device}": "" for device in DEVICES},
    }


def _is_below(path: Path, folders: list[str], inside: list[str] | None = None) -> bool:
    """Whether a path lies in one of the folders, or one of the paths `inside` lies in it."""
    return any(path.is_relative_to(folder) for folder in folders) or any(
        Path(other).is_relative_to(path) for other in inside or []
    )


def _other_packages(prefixes: list[Path]) -> list[str]:
    return [
        str(found)
        for prefix in prefixes
        for pattern in _OTHER_PACKAGES
        for found in sorted(prefix.glob(pattern))
        if found.is_dir() and not found.is_symlink()
    ]


def _own_code(shown: list[str]) -> list[str]:
    library = Path(__file__).resolve().parents[1]
    checkout = library.parents[1] if library.parent.name == "src" else library.parent
    return [str(checkout)] if _is_below(checkout, shown) else []
