"""Run untrusted code in isolation, with only the public files of a task visible."""

from sandmill.sandbox.remote import RemoteSandbox
from sandmill.sandbox.sandbox import AsyncSandbox, Sandbox

__all__ = ["AsyncSandbox", "RemoteSandbox", "Sandbox"]
