"""Entry script of the agent's interpreter: `python start.py probe|serve|bare ...`. It works without sandmill."""

import sys
from pathlib import Path
from types import ModuleType

_PARENTS = ("sandmill", "sandmill.sandbox")


def _load(name: str) -> ModuleType:
    """Import a module of this folder under its full name, then remove all sandmill modules from `sys.modules`."""
    from importlib import import_module

    for parent in _PARENTS:
        sys.modules[parent] = ModuleType(parent)
        sys.modules[parent].__path__ = []
    guest = sys.modules["sandmill.sandbox.guest"] = ModuleType("sandmill.sandbox.guest")
    guest.__path__ = [str(Path(__file__).parent)]
    module = import_module(f"sandmill.sandbox.guest.{name}")
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "sandmill"]:
        del sys.modules[loaded]
    return module


if __name__ == "__main__":
    _load(sys.argv[1]).main(sys.argv[2:])
