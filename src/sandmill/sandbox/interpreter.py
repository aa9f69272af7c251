"""How the agent's interpreter is called: fixed flags, a small fixed environment, our guest code by its path."""

import os
from pathlib import Path

from sandmill.sandbox.agent_env import AgentEnv

GUEST = Path(__file__).parent / "guest"

_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/box/home",
    "TMPDIR": "/box/tmp",
    "USER": "agent",
    "LOGNAME": "agent",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}
_CPU_KERNELS = ("OPENBLAS_CORETYPE",)
"""Variables that choose numerical kernels: carried over, so that a script computes as the panel did."""


def guest_environment(**changes: str) -> dict[str, str]:
    """Give the whole environment of the agent's interpreter: what it holds is the same for every run."""
    kernels = {name: os.environ[name] for name in _CPU_KERNELS if name in os.environ}
    return {**_ENVIRONMENT, **kernels, **changes}


def guest_command(env: AgentEnv, *arguments: str, guest: Path = GUEST) -> list[str]:
    """Give the command that runs our guest code in the agent's interpreter.

    The flags are inherited by interpreters that the agent's code starts, so they keep what its code needs: its
    packages (no `-S`) and the fixed hash seed (no `-E`).
    """
    return [str(env.python), "-s", "-P", "-B", "-X", "utf8", str(guest / "start.py"), *arguments]
