"""Running code apart from us: what nobody vouches for in a sandbox, our own scripts over a copy of public/."""

from typing import TYPE_CHECKING, Any

from sandmill.sandbox.process import ScriptRun, run_script

if TYPE_CHECKING:
    from sandmill.sandbox.aio import AsyncSandbox
    from sandmill.sandbox.sandbox import Sandbox

__all__ = ["AsyncSandbox", "Sandbox", "ScriptRun", "run_script"]


def __getattr__(name: str) -> Any:
    """Load the sandbox when it is asked for: the build runs our own scripts and needs none of it."""
    if name == "Sandbox":
        from sandmill.sandbox.sandbox import Sandbox

        return Sandbox
    if name == "AsyncSandbox":
        from sandmill.sandbox.aio import AsyncSandbox

        return AsyncSandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
