"""Places of markers that somebody else proposes, such as a language model. Its code is compared and never run."""

import ast
import re
from collections.abc import Sequence

from sandmill.models.rollout import Marker
from sandmill.rewards.milestones import COMPOUND, Plan

PROPOSAL = re.compile(r"sandmill: ([a-z_]+)")
"""Text that a proposal prints for a marker."""

REQUEST = f"""\
Insert progress prints into the Python script below and return the whole script. After the statement that reaches a
milestone for the first time, insert a line of its own, for example print("sandmill: {Marker.TRAINED}"). Milestones:
{", ".join(Marker)}. Change nothing else: keep every statement, its order and its text.

"""
"""Prompt for a language model. Append the script, and return the code of the answer without a Markdown fence."""


def plan_proposed(tree: ast.Module, proposed: str) -> Plan | None:
    """Return the places that a proposal prints markers at.

    Returns:
        None if the proposal does not parse, or differs from the script by more than prints of constants.
    """
    try:
        other = ast.parse(proposed)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    plan = Plan(tree)
    return plan if _align(tree, other, plan) else None


def _align(old: ast.AST, new: ast.AST, plan: Plan) -> bool:
    """Compare two nodes, and add the markers that the new one prints in its blocks to the plan."""
    if type(old) is not type(new):
        return False
    return all(_align_values(value, getattr(new, name, None), plan) for name, value in ast.iter_fields(old))


def _align_values(old: object, new: object, plan: Plan) -> bool:
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return _align(old, new, plan)
    if isinstance(old, list) and isinstance(new, list):
        if any(isinstance(node, ast.stmt) for node in [*old, *new]):
            return _align_bodies(old, new, plan)
        return len(old) == len(new) and all(_align_values(*pair, plan) for pair in zip(old, new, strict=True))
    return type(old) is type(new) and repr(old) == repr(new)


def _align_bodies(old: Sequence[ast.stmt], new: Sequence[ast.stmt], plan: Plan) -> bool:
    place = 0
    for node in new:
        if place < len(old) and _is_same_start(old[place], node):
            if not _align(old[place], node, plan):
                return False
            place += 1
        elif (printed := _printed(node)) is not None:
            if found := _markers_in(printed):
                _propose(old, place, found, plan)
        else:
            return False
    return place == len(old)


def _is_same_start(old: ast.stmt, new: ast.stmt) -> bool:
    """Return whether two statements are equal, or blocks of the same type, whose content is compared later."""
    if isinstance(old, COMPOUND):
        return type(old) is type(new)
    return ast.dump(old) == ast.dump(new)


def _propose(body: Sequence[ast.stmt], place: int, markers: set[Marker], plan: Plan) -> None:
    if place > 0 and not isinstance(body[place - 1], (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        plan.add_after(body, place - 1, markers)
    elif place == 0 and body:
        plan.add_first(body, markers)


def _printed(node: ast.stmt) -> str | None:
    """Return what a `print` of constants prints, or None for any other statement."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=args, keywords=[])):
            texts = [str(arg.value) for arg in args if isinstance(arg, ast.Constant)]
            return " ".join(texts) if len(texts) == len(args) else None
        case _:
            return None


def _markers_in(text: str) -> set[Marker]:
    found = PROPOSAL.fullmatch(text.strip())
    return {marker for marker in Marker if found and marker.value == found[1]}
