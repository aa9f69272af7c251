"""The sandbox of adapters whose settings are plain data: of this machine, or of servers."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem

if TYPE_CHECKING:
    from sandmill.play.sandboxes import AsyncCodeRunner

_CONCURRENCY = 32
"""Runs at a time on all servers together. Their queues decide how many of them work."""


def choose_sandbox(servers: Sequence[str] | str = (), token_file: str = "") -> "AsyncCodeRunner":
    """Return a sandbox. Equal arguments give the same object.

    Args:
        servers: addresses of `sandmill serve`, such as `http://10.0.0.1:8700`. Without them, this machine runs code.
        token_file: file with the token of all servers.

    Raises:
        SandboxUnavailable: without servers, if this machine cannot isolate runs or the agent environment is missing.
        InputError: an address or the token file cannot be used.
    """
    from sandmill.play.sandboxes import shared_sandbox

    addresses = (servers,) if isinstance(servers, str) else tuple(servers)
    return _reach(addresses, token_file) if any(addresses) else shared_sandbox()


@lru_cache(maxsize=8)
def _reach(addresses: tuple[str, ...], token_file: str) -> "AsyncCodeRunner":
    from sandmill.sandbox import AsyncSandbox, RemoteSandbox

    try:
        token = Path(token_file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        problem = Problem("token_file", f"{token_file!r}: {error}", "a readable file with the token of the servers")
        raise InputError("servers", [problem], "") from error
    return AsyncSandbox.over(RemoteSandbox(addresses, token=token), concurrency=_CONCURRENCY)
