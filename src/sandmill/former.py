"""Former names of modules still import, and warn with the present name."""

import sys
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_FORMER = {
    "sandmill.adapters.exports": "sandmill.export",
    "sandmill.adapters": "sandmill.trainers",
    "sandmill.episodes.server": "sandmill.serve",
    "sandmill.episodes": "sandmill.play",
}
"""Present name by former name of a package, inner packages first."""


class _FormerNames(MetaPathFinder, Loader):
    """Finds modules under their former names. The module that it makes hands every attribute on."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a former name, and None for all others."""
        for former, present in _FORMER.items():
            if fullname == former or fullname.startswith(f"{former}."):
                name = present + fullname.removeprefix(former)
                return ModuleSpec(fullname, self, is_package=True, loader_state=name)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Import the module under its present name."""
        present = module.__spec__.loader_state if module.__spec__ else ""
        warnings.warn(f"{module.__name__} is now {present}", FutureWarning, stacklevel=2)
        module.__dict__["__getattr__"] = partial(getattr, import_module(present))


def keep_former_names() -> None:
    """Make former names importable. Present modules are found first."""
    if not any(isinstance(finder, _FormerNames) for finder in sys.meta_path):
        sys.meta_path.append(_FormerNames())
