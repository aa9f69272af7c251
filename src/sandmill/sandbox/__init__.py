"""Running code that nobody vouches for, apart from us and over public files alone."""

from sandmill.sandbox.aio import AsyncSandbox
from sandmill.sandbox.sandbox import Sandbox

__all__ = ["AsyncSandbox", "Sandbox"]
