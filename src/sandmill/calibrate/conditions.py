"""Conditions under which solvers and scripts run: one thread, and no checks of scikit-learn that change no number."""

import ast
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Limit linear algebra to one thread within a block, so that sums are the same on every machine."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> Any:
    """Look up the loaded libraries once for each process: it takes about as long as fitting a linear model."""
    import scipy.linalg  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    # A controller knows only libraries that are loaded before it is made.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def solver_conditions(*, is_finite: bool = True) -> Iterator[None]:
    """Run solvers on one thread and without checks of scikit-learn, which take longer than its small models.

    Gaps in features are not looked for if they are finite.
    """
    from sklearn import config_context

    with one_thread(), config_context(skip_parameter_validation=True, assume_finite=is_finite):
        yield


@contextmanager
def script_surroundings(folder: Path, out: Path) -> Iterator[None]:
    """Arguments, output and warnings as a script has them that runs by itself; one thread of linear algebra."""
    arguments, variables = sys.argv, dict(os.environ)
    sys.argv = ["solution.py", str(folder), str(out)]
    try:
        # A script by itself finds gaps that its models cannot take.
        with solver_conditions(is_finite=False), warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(variables)


def run_source(source: str, names: dict[str, Any], known: Mapping[str, Callable[..., Any]] | None = None) -> None:
    """Execute source of our own making in a namespace. Known functions take the place of those that it defines."""
    tree = ast.parse(source)
    tree.body = [one for one in tree.body if not (isinstance(one, ast.FunctionDef) and one.name in (known or ()))]
    exec(compile(tree, "solution.py", "exec"), names.update(known or {}) or names)
