"""One command line for one or more models: their fields are the options, their docstrings the help.

argparse splits the line and writes the help, pydantic reads the values.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, NoReturn, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from sandmill.cli.app import INTERRUPTED, INTERRUPTED_CODE
from sandmill.errors import Problem, RequestError, SandmillError
from sandmill.seeds.explain import choices_of, describe, explain, unwrapped

_METAVARS: Mapping[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH", bool: "true|false"}


def run_program(
    work: Callable[..., None],
    prog: str,
    description: str,
    examples: str,
    *models: type[BaseModel],
    stops: tuple[type[Exception], ...] = (),
) -> int:
    """Run a function on the models that the command line gives, and return the exit code.

    Errors that are not bugs are printed without a traceback: those of Sandmill, and the types in `stops`.
    """
    signal.signal(signal.SIGINT, _end_at_once)
    shown: tuple[type[Exception], ...] = (SandmillError, *stops)
    try:
        work(*parse_models(sys.argv[1:], prog, description, examples, *models))
    except shown as error:
        print(error, file=sys.stderr)
        return int(getattr(error, "exit_code", 1))
    return 0


def _end_at_once(*_signal: object) -> None:
    """End the process on Ctrl-C at once. Ctrl-C also ends Prefect's temporary server, and shards would wait for it.

    This is safe, since finished shards and published versions survive a kill at any moment.
    """
    print(f"\n{INTERRUPTED}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED_CODE)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise _refusal(self.prog, [Problem("command line", message, "options that --help lists, with their values")])


def _refusal(prog: str, problems: Sequence[Problem]) -> RequestError:
    return RequestError(prog, problems, f"Nothing was done. {prog} --help lists every option.")


def parse_models(
    argv: Sequence[str], prog: str, description: str, examples: str, *models: type[BaseModel]
) -> tuple[Any, ...]:
    """Read a command line into models, and report all values that are wrong at once.

    Options are the fields of the models, with dashes for underscores, written out in full. A tuple takes several
    values. A mapping takes `key=value` pairs joined by commas. A switch alone means true.

    One instance of each model is returned; models have no field name in common. The help ends with the examples.

    Raises:
        RequestError: with one problem for every value and combination that is wrong; exit code 2.
        SystemExit: with code 0, after `--help` was printed.
    """
    parser = _Parser(
        prog=prog,
        usage=f"{prog} [options]",
        description=description,
        epilog="examples:\n" + indent(examples, "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    fields = {name: field for model in models for name, field in model.model_fields.items()}
    for name, field in fields.items():
        parser.add_argument(_flag(name), help=_help(field), **_shape(field))
    given = {name: _plain(value, fields[name]) for name, value in vars(parser.parse_args(list(argv))).items()}
    problems = [Problem(_flag(name), "no value", describe(fields[name])) for name in given if given[name] == ""]
    instances = []
    for model in models:
        try:
            instances.append(model.model_validate({name: given[name] for name in model.model_fields if name in given}))
        except ValidationError as error:
            for refused in explain(error, model):
                problems.append(Problem(_where(refused.loc, fields), refused.saw, refused.expected, refused.hint))
    if problems:
        raise _refusal(prog, problems)
    return tuple(instances)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _is_list(field: FieldInfo) -> bool:
    return get_origin(unwrapped(field.annotation)) in (tuple, list)


def _is_mapping(field: FieldInfo) -> bool:
    return get_origin(unwrapped(field.annotation)) is dict


def _shape(field: FieldInfo) -> dict[str, Any]:
    """Return how many words an option takes, and what the help calls them."""
    annotation = unwrapped(field.annotation)
    if _is_mapping(field):
        return {"metavar": "KEY=VALUE,..."}
    item = get_args(annotation)[0] if _is_list(field) else annotation
    shape: dict[str, Any] = {"metavar": "|".join(choices_of(item)) or _METAVARS.get(item, "VALUE")}
    if annotation is bool:
        return {**shape, "nargs": "?", "const": True}
    return {**shape, "nargs": "+"} if _is_list(field) else shape


def _plain(value: Any, field: FieldInfo) -> Any:
    """Return what the model validates: the words as they are, and pairs as a mapping."""
    if not _is_mapping(field):
        return value
    pairs = (part.partition("=") for part in value.split(",") if part)
    return {key: amount for key, _, amount in pairs}


def _help(field: FieldInfo) -> str:
    """Return the field's docstring on one line, its limits and its default."""
    accepted = describe(field)
    limits = f"{accepted}; " if any(word in accepted for word in (" from ", " of ", " above ", " to ")) else ""
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={item}" for key, item in value.items())
    elif _is_list(field) and not field.is_required():
        value = " ".join(map(str, value))
    elif isinstance(value, bool):
        value = str(value).lower()
    default = "required" if field.is_required() else f"default: {'none' if value in (None, '') else value}"
    return f"{' '.join((field.description or '').split())} ({limits}{default})".replace("%", "%%")


def _where(loc: tuple[str | int, ...], fields: Mapping[str, FieldInfo]) -> str:
    if not loc:
        return "command line"
    name = str(loc[0])
    inside = "" if _is_list(fields[name]) else "".join(f" {part}" for part in loc[1:] if part != "[key]")
    return _flag(name) + inside
