"""Cut a standalone script out of the panel's own sources, so that a reference solution is what really ran."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from pprint import pformat

from sandmill.calibrate.panel import PANEL
from sandmill.calibrate.solvers.told import Told

_SOURCES = Path(__file__).parent / "solvers"
_OWN = "sandmill."

_HEAD = '''"""{doc}

Reference solution `{name}`. Reads train.csv and test.csv from a folder, writes a submission:

    python solution.py [PUBLIC_DIR] [OUT_CSV]        (default: public and submission.csv)
"""

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # set before numpy loads: the same sums in the same order on every machine

{imports}


{told_class}


TOLD = Told(
{told}
)
"""What the description says."""'''

_TAIL = '''def main() -> None:
    """Read, solve, write."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "public")
    table = Table.read(folder, TOLD)
    prediction = {call}
    submission = submission_frame(prediction, table)
    submission.to_csv(sys.argv[2] if len(sys.argv) > 2 else "submission.csv", index=False)


if __name__ == "__main__":
    main()
'''

_IMPORTED_BY_TAIL = ("import sys", "from pathlib import Path")


@dataclass(frozen=True)
class _Piece:
    """A top-level definition of the solvers: its text, the names it uses and where it stands."""

    text: str
    uses: frozenset[str]
    order: tuple[int, int]


@dataclass(frozen=True)
class _Library:
    """All definitions of the solvers by name, and the outside import that gives each imported name."""

    pieces: dict[str, _Piece]
    imports: dict[str, str]
    docs: dict[str, str]


def standalone_script(solver_name: str, told: Told) -> str:
    """Write a solver as one readable file that needs numpy, pandas and scikit-learn and nothing of Sandmill.

    It holds the functions, classes and constants reached from the solver, in dependency order, with what the task's
    description says as literals. Run in a fresh process it writes exactly the panel's predictions.

    Raises:
        KeyError: if the panel has no such solver.
    """
    entry = {entry.name: entry for entry in PANEL}[solver_name]
    library = _read_library()
    reached = _reach(library, ("Told", "Table", solver_name, "solve", entry.decision, "settle", "submission_frame"))
    used = frozenset().union(*(library.pieces[name].uses for name in reached))
    imports = {library.imports[name] for name in used if name in library.imports} | set(_IMPORTED_BY_TAIL)
    literals = [f"    {field.name}={pformat(getattr(told, field.name), width=100)}," for field in fields(told)]
    head = _HEAD.format(
        doc=library.docs[solver_name],
        name=solver_name,
        imports=_layout_imports(imports),
        told_class=library.pieces["Told"].text,
        told="\n".join(literals),
    )
    reached.remove("Told")
    call = f"settle(solve({solver_name}, table), table, {entry.decision})"
    return "\n\n\n".join([head, *_layout_pieces(library, reached), _TAIL.format(call=call)])


def _reach(library: _Library, names: tuple[str, ...]) -> list[str]:
    """Names of all pieces that the given ones need, dependencies first, callers after."""
    ordered: list[str] = []
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in visiting or name not in library.pieces:
            return
        visiting.add(name)
        needs = sorted(library.pieces[name].uses & library.pieces.keys(), key=lambda used: library.pieces[used].order)
        for used in needs:
            visit(used)
        ordered.append(name)

    for name in names:
        visit(name)
    return ordered


@cache
def _read_library() -> _Library:
    """Parse the solvers' modules.

    Raises:
        ValueError: if two modules define a name differently, since one file could not hold both.
    """
    pieces: dict[str, _Piece] = {}
    imports: dict[str, str] = {}
    docs: dict[str, str] = {}
    for number, path in enumerate(sorted(_SOURCES.glob("*.py"))):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        previous: str | None = None
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports.update(_outside_names(node))
            elif name := _defined_name(node):
                if name in pieces:
                    raise ValueError(f"solvers define {name} twice; the second time in {path.name}")
                start = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
                body = "\n".join(lines[start - 1 : node.end_lineno])
                pieces[name] = _Piece(body, _used_names(node), (number, node.lineno))
                docs[name] = ast.get_docstring(node) or "" if isinstance(node, ast.FunctionDef) else ""
                previous = name
            elif previous and isinstance(node, ast.Expr) and not docs[previous]:
                old = pieces[previous]
                note = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                pieces[previous] = _Piece(f"{old.text}\n{note}", old.uses, old.order)
    return _Library(pieces, imports, docs)


def _outside_names(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Names that an import of someone else's code gives, each with a statement for it alone."""
    for alias in node.names:
        known = alias.asname or alias.name.split(".")[0]
        renamed = f" as {alias.asname}" if alias.asname else ""
        if isinstance(node, ast.Import):
            yield known, f"import {alias.name}{renamed}"
        elif not (node.module or "").startswith(_OWN):
            yield known, f"from {node.module} import {alias.name}{renamed}"


def _defined_name(node: ast.stmt) -> str | None:
    """Name that a top-level statement defines, if it defines one."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _used_names(node: ast.stmt) -> frozenset[str]:
    """Every bare name that a definition reads."""
    own = _defined_name(node)
    names = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return frozenset({name.id for name in names if isinstance(name.ctx, ast.Load)} - {own})


def _layout_imports(statements: set[str]) -> str:
    """Standard library first, then the rest; names from one module on one line."""
    plain = sorted(line for line in statements if line.startswith("import "))
    by_module: dict[str, list[str]] = {}
    for line in statements - set(plain):
        module, name = line.removeprefix("from ").split(" import ")
        by_module.setdefault(module, []).append(name)
    lines = plain + [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(by_module.items())]
    outside = ("numpy", "pandas", "sklearn", "scipy")
    groups = (
        [line for line in lines if line.split()[1].startswith(outside) is is_outside] for is_outside in (False, True)
    )
    return "\n\n".join("\n".join(group) for group in groups if group)


def _layout_pieces(library: _Library, names: list[str]) -> list[str]:
    """Constants first, as one block, then definitions."""
    pieces = [library.pieces[name] for name in names]
    constants = [piece.text for piece in pieces if not piece.text.startswith(("def ", "class ", "@"))]
    definitions = [piece.text for piece in pieces if piece.text.startswith(("def ", "class ", "@"))]
    return [*(["\n".join(constants)] if constants else []), *definitions]
