"""Command line and environment variables of the agent's interpreter. Both are fixed."""

import os
from pathlib import Path

from sandmill.sandbox.agent_env import AgentEnv

GUEST = Path(__file__).parent / "guest"
"""Folder of the code that the agent's interpreter executes for us."""

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
"""Variables that choose numerical kernels. They are passed on, so that a script gets the same numbers as the panel."""


def guest_environment(**changes: str) -> dict[str, str]:
    """Return all environment variables of the agent's interpreter: the fixed ones, with these changes."""
    kernels = {name: os.environ[name] for name in _CPU_KERNELS if name in os.environ}
    return {**_ENVIRONMENT, **kernels, **changes}


def guest_command(env: AgentEnv, *arguments: str, guest: Path = GUEST) -> list[str]:
    """Return the command that runs our guest code in the agent's interpreter.

    Interpreters that the agent's code starts inherit the flags. Therefore `-S` is absent, since it would hide the
    packages, and so is `-E`, since it would ignore the fixed hash seed.
    """
    return [str(env.python), "-s", "-P", "-B", "-X", "utf8", str(guest / "start.py"), *arguments]
