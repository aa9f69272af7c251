"""Runs in an interpreter that starts for them: inside bubblewrap, or as a plain subprocess."""

import json
import os
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.channels import Channels, Ending
from sandmill.sandbox.interpreter import GUEST, guest_command, guest_environment
from sandmill.sandbox.memory import peak_of_ended
from sandmill.sandbox.view import DEVICES, FILES, view_of

_GUEST_INSIDE = Path("/.guest")
_PUBLIC_INSIDE = "/.public"
_FIRST_UID = 1 << 30
"""As `guest/box.py` has it."""
_END_MS = 15_000
_CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "CHOWN", "DAC_OVERRIDE", "FOWNER")
"""What our guest code needs in bubblewrap until it gives them up, before the agent's code starts."""


class ColdRun:
    """A process that is a run, or that holds one together."""

    def __init__(self, process: "subprocess.Popen[bytes]", is_group: bool, inner: int | None = None) -> None:
        self._process, self._is_group = process, is_group
        self.pids = (inner or process.pid,)
        self.over = os.pidfd_open(process.pid)
        self._init = os.pidfd_open(inner) if inner else -1

    def kill(self) -> None:
        """Kill the init of the namespace if there is one, else the process group."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init if self._init >= 0 else self.over, signal.SIGKILL)
        if self._is_group:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self) -> Ending:
        """Collect the process, and wait for the init, which ends last: bubblewrap itself does not wait for it."""
        _, status, used = os.wait4(self._process.pid, 0)
        if self._init >= 0:
            waiting = select.poll()
            waiting.register(self._init, select.POLLIN)
            waiting.poll(_END_MS)
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        for descriptor in (self.over, self._init):
            if descriptor >= 0:
                os.close(descriptor)
        peak_mb = peak_of_ended(used.ru_maxrss * 1024) / (1 << 20)
        return Ending(code if code >= 0 else 128 - code, used.ru_utime + used.ru_stime, peak_mb)


class Bubblewrap:
    """Makes bubblewrap runs: namespaces and root by bubblewrap, the rest by our guest code inside."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        self._env, self._is_root = env, is_root
        self._settings = TemporaryDirectory(prefix="sandmill-bwrap-")
        for path, text in FILES.items():
            (Path(self._settings.name) / Path(path).name).write_text(text)

    def launch(self, channels: Channels, public: Path) -> ColdRun:
        """Start bubblewrap and wait until it says which process is the init of the run."""
        job, stdout, stderr, stage = channels.given
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                [*self._bubblewrap(public, writer), *self._guest(job, stage)],
                env=guest_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[job, stage, writer],
                start_new_session=True,
            )
        finally:
            os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as file:
            told = file.read()
        inner = json.loads(told)["child-pid"] if told else None
        with suppress(ProcessLookupError):
            return ColdRun(process, is_group=False, inner=inner)
        return ColdRun(process, is_group=False)

    def close(self) -> None:
        """Remove what we keep on disk."""
        self._settings.cleanup()

    def _guest(self, job: int, stage: int) -> list[str]:
        uid = str(_FIRST_UID + _free_number() if self._is_root else 0)
        inside = ("cold", "bwrap", uid, str(job), str(stage), str(_GUEST_INSIDE))
        return guest_command(self._env, *inside, guest=_GUEST_INSIDE)

    def _bubblewrap(self, public: Path, info: int) -> list[str]:
        words = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        words += ["--die-with-parent", "--new-session", "--info-fd", str(info)]
        if self._is_root:
            words += [word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
        else:
            words += ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
        view = view_of(self._env)
        shown = [path for _, path in view["steps"]]
        for parent in dict.fromkeys(parent for path in shown for parent in reversed(_parents(path))):
            if not any(Path(parent).is_relative_to(path) for path in shown):
                words += ["--perms", "0755", "--dir", parent]
        for kind, path in view["steps"]:
            words += ["--tmpfs", path, "--remount-ro", path] if kind == "mask" else ["--ro-bind", path, path]
        for path in view["folders"]:
            words += ["--proc", path] if path == "/proc" else ["--dir", path]
        for path, target in view["links"].items():
            words += ["--symlink", target, path]
        for path in FILES:
            words += ["--ro-bind", str(Path(self._settings.name) / Path(path).name), path]
        for device, source in DEVICES.items():
            words += ["--dev-bind", f"/dev/{source}", f"/dev/{device}"]
        words += ["--ro-bind", str(GUEST), str(_GUEST_INSIDE), "--ro-bind", str(public), _PUBLIC_INSIDE]
        return [*words, "--hostname", "sandbox", "--remount-ro", "/", "--chdir", "/", "--"]


class Bare:
    """Makes runs with nothing around them but limits, in a folder of their own."""

    def __init__(self, env: AgentEnv) -> None:
        self._env = env

    def launch(self, channels: Channels, public: Path, folder: Path) -> ColdRun:
        """Lay out a folder and start an interpreter in it."""
        job, stdout, stderr, stage = channels.given
        for name in ("work", "home", "tmp"):
            (folder / name).mkdir()
        shutil.copytree(public, folder / "work" / "public", symlinks=True)
        process = subprocess.Popen(
            guest_command(self._env, "cold", "bare", "0", str(job), str(stage)),
            cwd=folder / "work",
            env=guest_environment(HOME=str(folder / "home"), TMPDIR=str(folder / "tmp")),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[job, stage],
            start_new_session=True,
        )
        return ColdRun(process, is_group=True)

    def close(self) -> None:
        """Nothing is kept."""


def _parents(path: str) -> list[str]:
    """List the folders above a path, without the root."""
    return [str(parent) for parent in Path(path).parents][:-1]


def _free_number() -> int:
    """Draw a number for a uid; the pid of the run is not known before bubblewrap has started."""
    return (1 << 23) + int.from_bytes(os.urandom(3))
