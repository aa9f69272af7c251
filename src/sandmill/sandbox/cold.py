"""Start each run in a new interpreter: inside bubblewrap, or as a plain subprocess."""

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.channels import Channels, Launched, Launcher, ProcessEnding
from sandmill.sandbox.guest.box import FIRST_UID
from sandmill.sandbox.guest.cold import PUBLIC
from sandmill.sandbox.guest.template import DEVICES
from sandmill.sandbox.interpreter import GUEST, guest_command, guest_environment
from sandmill.sandbox.memory import peak_of_ended
from sandmill.sandbox.view import FILES, view_of

_GUEST_INSIDE = Path("/.guest")
_CAPABILITIES = ("SYS_ADMIN", "SETPCAP", "SETUID", "SETGID", "CHOWN", "DAC_OVERRIDE", "FOWNER")
"""Capabilities that our guest code needs inside bubblewrap. It drops them before the agent's code starts."""


class ColdRun(Launched):
    """A started run: the interpreter itself, or the bubblewrap process that contains it.

    Without a namespace, the process group is killed instead of an init process.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", init_pid: int | None = None, is_group: bool = False) -> None:
        self._process, self._is_group = process, is_group
        self.pids = (init_pid or process.pid,)
        self._init = os.pidfd_open(self.pids[0])
        self.end_descriptor = os.pidfd_open(process.pid)

    def kill(self) -> None:
        """Kill the init process, which ends all processes of the namespace, or the process group if there is none."""
        super().kill()
        if self._is_group:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self) -> ProcessEnding:
        """Wait for the process, then for the init process, which ends last: bubblewrap does not wait for it."""
        _, status, used = os.wait4(self._process.pid, 0)
        self._wait_for_init()
        os.close(self.end_descriptor)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return ProcessEnding.of(status, used.ru_utime + used.ru_stime, peak_of_ended(used.ru_maxrss * 1024) / (1 << 20))


class Bubblewrap(Launcher):
    """Starts runs in bubblewrap. Bubblewrap makes namespaces and the root; our guest code inside does the rest."""

    def __init__(self, env: AgentEnv, is_root: bool) -> None:
        super().__init__(env, is_root)
        self._settings = TemporaryDirectory(prefix="sandmill-bwrap-")
        for path, text in FILES.items():
            (Path(self._settings.name) / Path(path).name).write_text(text)

    def launch(self, channels: Channels, public: Path) -> ColdRun:
        """Start bubblewrap and wait until it reports the process id of the run's init process."""
        job, stdout, stderr, setup_socket = channels.guest_descriptors
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                [*self._bubblewrap_command(public, writer), *self._guest_arguments(job, setup_socket)],
                env=guest_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[job, setup_socket, writer],
                start_new_session=True,
            )
        finally:
            os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as file:
            info = file.read()
        init_pid = json.loads(info)["child-pid"] if info else None
        with suppress(ProcessLookupError):
            return ColdRun(process, init_pid)
        return ColdRun(process)

    def close(self) -> None:
        """Remove the temporary folder with the files of /etc that runs see."""
        self._settings.cleanup()

    def _guest_arguments(self, job: int, setup_socket: int) -> list[str]:
        # The pid of the run is not known before bubblewrap has started, so the number of its uid is random.
        uid = str(FIRST_UID + (1 << 23) + int.from_bytes(os.urandom(3)) if self._is_root else 0)
        inside = ("cold", "bwrap", uid, str(job), str(setup_socket), str(_GUEST_INSIDE))
        return guest_command(self._env, *inside, guest=_GUEST_INSIDE)

    def _bubblewrap_command(self, public: Path, info: int) -> list[str]:
        command = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        command += ["--die-with-parent", "--new-session", "--info-fd", str(info)]
        if self._is_root:
            command += [word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
        else:
            command += ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
        view = view_of(self._env)
        shown = [path for _, path in view["steps"]]
        for parent in dict.fromkeys(parent for path in shown for parent in reversed(_parents(path))):
            if not any(Path(parent).is_relative_to(path) for path in shown):
                command += ["--perms", "0755", "--dir", parent]
        for kind, path in view["steps"]:
            command += ["--tmpfs", path, "--remount-ro", path] if kind == "mask" else ["--ro-bind", path, path]
        for path in view["folders"]:
            command += ["--proc", path] if path == "/proc" else ["--dir", path]
        for path, target in view["links"].items():
            command += ["--symlink", target, path]
        for path in FILES:
            command += ["--ro-bind", str(Path(self._settings.name) / Path(path).name), path]
        for device, source in DEVICES.items():
            command += ["--dev-bind", f"/dev/{source}", f"/dev/{device}"]
        command += ["--ro-bind", str(GUEST), str(_GUEST_INSIDE), "--ro-bind", str(public), PUBLIC]
        return [*command, "--hostname", "sandbox", "--remount-ro", "/", "--chdir", "/", "--"]


class PlainSubprocess(Launcher):
    """Starts runs as plain subprocesses, with resource limits only, each in its own temporary folder."""

    def launch(self, channels: Channels, public: Path) -> ColdRun:
        """Create the working directory, copy the public files, and start an interpreter there."""
        folder = Path(mkdtemp(prefix="sandmill-run-"))
        channels.cleanup.callback(remove_tree, folder)
        job, stdout, stderr, setup_socket = channels.guest_descriptors
        for name in ("work", "home", "tmp"):
            (folder / name).mkdir()
        shutil.copytree(public, folder / "work" / "public", symlinks=True)
        process = subprocess.Popen(
            guest_command(self._env, "cold", "bare", "0", str(job), str(setup_socket)),
            cwd=folder / "work",
            env=guest_environment(HOME=str(folder / "home"), TMPDIR=str(folder / "tmp")),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[job, setup_socket],
            start_new_session=True,
        )
        return ColdRun(process, is_group=True)


def remove_tree(folder: Path) -> None:
    """Remove a folder that a script has filled. `rm` removes trees of any depth; `shutil.rmtree` recurses."""
    for command in ("chmod", "-R", "u+rwX"), ("rm", "-rf"):
        subprocess.run([*command, "--", folder], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _parents(path: str) -> list[str]:
    """Return the folders above a path, without `/`."""
    return [str(parent) for parent in Path(path).parents][:-1]
