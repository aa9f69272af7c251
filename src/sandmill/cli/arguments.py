"""One command line for one or more models: their fields are the options, their docstrings the help.

argparse splits the line and writes the help, pydantic reads the values. pydantic-settings is not used: it takes lists
as JSON or as repeated options, and it stops at the first option that it does not know.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from sandmill.cli.app import INTERRUPTED, INTERRUPTED_CODE
from sandmill.errors import Problem, RequestError, SandmillError
from sandmill.seeds.explain import any_of, choices_of, describe, did_you_mean, explain, show, unwrapped

_METAVARS: Mapping[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH", bool: "[true|false]"}


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


def parse_models(
    argv: Sequence[str], prog: str, description: str, examples: str, *models: type[BaseModel]
) -> tuple[Any, ...]:
    """Read a command line into models, and report all mistakes at once.

    Options are the fields of the models, with dashes for underscores, written out in full and given once. A tuple takes
    several values. A mapping takes `key=value` pairs joined by commas or spaces. A switch alone means true.

    One instance of each model is returned; models have no field name in common. The help ends with the examples.

    Raises:
        RequestError: with one problem for every value, option and combination that is wrong; exit code 2.
        SystemExit: with code 0, after `--help` was printed.
    """
    options = {name: _Option(name, field) for model in models for name, field in model.model_fields.items()}
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options]",
        description=description,
        epilog="examples:\n" + indent(examples, "  "),
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
        exit_on_error=False,
        argument_default=argparse.SUPPRESS,
    )
    for option in options.values():
        # The words of every use of every option are collected, so that no mistake ends the parsing.
        parser.add_argument(option.flag, nargs="*", action="append", metavar=option.metavar, help=option.help)
    if not {"-h", "--help"}.isdisjoint(argv):
        parser.parse_args(["--help"])
    problems: list[Problem] = []
    try:
        given, rest = parser.parse_known_args(list(argv))
    except argparse.ArgumentError as error:
        given, rest = argparse.Namespace(), []
        problems.append(Problem(error.argument_name or "command line", error.message, "an option that --help lists"))
    problems += _unknown(rest, [option.flag for option in options.values()])
    values: dict[str, Any] = {}
    for name, words in vars(given).items():
        values[name] = options[name].read(words)
        if isinstance(values[name], Problem):
            problems.append(values.pop(name))
    reported = {problem.where for problem in problems}
    instances = []
    for model in models:
        try:
            instances.append(model.model_validate({name: values[name] for name in model.model_fields.keys() & values}))
        except ValidationError as error:
            for refusal in explain(error, model):
                where = _where(refusal.loc, options)
                if where not in reported:
                    problems.append(Problem(where, refusal.saw, refusal.expected, refusal.hint))
    if problems:
        raise RequestError(prog, problems, f"Nothing was done. {prog} --help lists every option.")
    return tuple(instances)


class _Option:
    """One field, set with `--flag`."""

    def __init__(self, name: str, field: FieldInfo) -> None:
        self.field, self.flag = field, "--" + name.replace("_", "-")
        self.annotation = unwrapped(field.annotation)
        origin = get_origin(self.annotation)
        self.is_list, self.is_mapping = origin in (tuple, list), origin is dict

    @property
    def metavar(self) -> str:
        """The name of the value in the help."""
        if self.is_mapping:
            return "KEY=VALUE,..."
        item = get_args(self.annotation)[0] if self.is_list else self.annotation
        word = "|".join(choices_of(item)) or _METAVARS.get(item, "VALUE")
        return f"{word} [{word} ...]" if self.is_list else word

    @property
    def help(self) -> str:
        """The field's docstring on one line, its limits and its default."""
        accepted = describe(self.field)
        limits = f"{accepted}; " if any(word in accepted for word in (" from ", " of ", " above ", " to ")) else ""
        value = self.field.get_default(call_default_factory=True, validated_data={})
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={item}" for key, item in value.items())
        elif self.is_list and not self.field.is_required():
            value = " ".join(map(str, value))
        elif self.annotation is bool:
            value = str(value).lower()
        default = "required" if self.field.is_required() else f"default: {'none' if value in (None, '') else value}"
        return f"{' '.join((self.field.description or '').split())} ({limits}{default})".replace("%", "%%")

    def read(self, uses: Sequence[Sequence[str]]) -> Any:
        """Return plain data for the model to validate, or a `Problem`. Each use of the flag has its own words."""
        words = uses[0]
        if len(uses) > 1:
            hint = "Give all values after one" if self.is_list else ""
            return Problem(self.flag, f"the option {len(uses)} times", "it once", hint)
        if self.is_mapping:
            return self._read_pairs([part for word in words for part in word.split(",") if part])
        if self.annotation is bool and not words:
            return True
        if self.is_list and words:
            return tuple(words)
        if len(words) > 1:
            return Problem(self.flag, f"{len(words)} values: {', '.join(map(show, words[:4]))}", describe(self.field))
        if not words or not words[0]:
            return Problem(self.flag, "no value", "one or more values" if self.is_list else describe(self.field))
        return words[0]

    def _read_pairs(self, parts: Sequence[str]) -> Mapping[str, str] | Problem:
        keys = choices_of(get_args(self.annotation)[0])
        pairs = [part.partition("=") for part in parts]
        wrong = [part for part, (_, equals, value) in zip(parts, pairs, strict=True) if not equals or not value]
        names = [key for key, _, _ in pairs]
        if not parts or wrong:
            expected = f"pairs such as {keys[0] if keys else 'key'}=0.5 joined by commas"
            return Problem(self.flag, ", ".join(map(show, wrong)) or "no value", expected)
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            return Problem(self.flag, f"{', '.join(map(show, repeated))} more than once", "each key once")
        if keys and (unknown := [name for name in names if name not in keys]):
            return Problem(self.flag, ", ".join(map(show, unknown)), any_of(keys), did_you_mean(unknown[0], keys))
        return {key: value for key, _, value in pairs}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows the name of a value once, though the parser takes any number of words."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        return str(action.metavar) if action.nargs == "*" else super()._format_args(action, default_metavar)


def _unknown(rest: Sequence[str], flags: Sequence[str]) -> Iterator[Problem]:
    """Report unknown options, and words before any option. Words after an unknown option are its values."""
    is_value = False
    for word in rest:
        flag = word.partition("=")[0]
        if word.startswith("-") and len(word) > 1:
            is_value = True
            yield Problem(flag, "an unknown option", "an option that --help lists", did_you_mean(flag, flags))
        elif not is_value:
            expected = "options first, such as --name value"
            yield Problem("command line", f"{show(word)} before any option", expected, did_you_mean(f"--{word}", flags))


def _where(loc: tuple[str | int, ...], options: Mapping[str, _Option]) -> str:
    if not loc:
        return "command line"
    option = options[str(loc[0])]
    inside = "".join(f" {part}" for part in loc[1:] if part != "[key]")
    return option.flag if option.is_list else option.flag + inside
