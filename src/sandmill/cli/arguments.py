"""One command line for one or more models: their fields are the options, their docstrings the help."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from pydantic import BaseModel, ValidationError

from sandmill.cli.options import Option, options_of
from sandmill.errors import Problem, RequestError
from sandmill.seeds.explain import describe, explain
from sandmill.seeds.wording import did_you_mean, show

_NUMBER = re.compile(r"-\.?\d")


def parse_models(
    argv: Sequence[str], prog: str, description: str, examples: str, *models: type[BaseModel]
) -> tuple[Any, ...]:
    """Read a command line so that a person sees all mistakes at once and no value is read two ways.

    Options are the fields of the models, underscores as dashes, written out in full and given once. A tuple takes
    several values; a mapping takes `key=value` pairs joined by commas or spaces; a switch
    alone means true.

    Args:
        argv: arguments after the programme's name.
        prog: how the programme is called, for the usage line.
        description: what it does, one sentence.
        examples: commands that work, one a line; they end the help.
        models: pydantic models with no field name in common.

    Returns:
        One instance for each model, in their order.

    Raises:
        RequestError: with one problem for every value, option and combination that is wrong; exit code 2.
        SystemExit: with code 0, after `--help` was printed.
    """
    options = options_of(models)
    if any(word in ("-h", "--help") for word in argv):
        print(_help(prog, description, examples, options), end="")
        raise SystemExit(0)
    line = _split(argv)
    problems = [*_strays(line, options), *_repeats(line, options)]
    values: dict[str, Any] = {}
    for option in options.values():
        if option.flag in line.given:
            found = option.read(line.given[option.flag][0])
            if isinstance(found, Problem):
                problems.append(found)
            else:
                values[option.name] = found.value
    instances = []
    for model in models:
        refused = {problem.where for problem in problems}
        outcome = _instance(model, values, options)
        if isinstance(outcome, list):
            problems += [problem for problem in outcome if problem.where not in refused]
        else:
            instances.append(outcome)
    if problems:
        raise RequestError(prog, problems, f"Nothing was done. {prog} --help lists every option.")
    return tuple(instances)


@dataclass
class _Line:
    """A command line cut at its options."""

    given: dict[str, list[list[str]]] = field(default_factory=dict)
    """Words after each option, one list for each time it was given."""
    strays: list[str] = field(default_factory=list)
    """Words before the first option."""


def _split(argv: Sequence[str]) -> _Line:
    """Cut at every word that starts with a dash and is no number; argparse would stop at the first mistake."""
    line, words = _Line(), None
    for word in argv:
        if word.startswith("-") and not _NUMBER.match(word):
            flag, equals, value = word.partition("=")
            words = [value] if equals else []
            line.given.setdefault(flag, []).append(words)
        elif words is None:
            line.strays.append(word)
        else:
            words.append(word)
    return line


def _strays(line: _Line, options: Mapping[str, Option]) -> Iterator[Problem]:
    flags = [option.flag for option in options.values()]
    for flag in line.given:
        if flag not in flags:
            yield Problem(flag, "an unknown option", "an option that --help lists", did_you_mean(flag, flags))
    for word in line.strays:
        hint = did_you_mean(f"--{word}", flags)
        yield Problem("command line", f"{show(word)} before any option", "options first, such as --name value", hint)


def _repeats(line: _Line, options: Mapping[str, Option]) -> Iterator[Problem]:
    for option in options.values():
        times = len(line.given.get(option.flag, ()))
        if times > 1:
            hint = "Give all values after one" if option.is_list else ""
            yield Problem(option.flag, f"the option {times} times", "it once", hint)


def _instance(
    model: type[BaseModel], values: Mapping[str, Any], options: Mapping[str, Option]
) -> BaseModel | list[Problem]:
    try:
        return model.model_validate({name: values[name] for name in model.model_fields if name in values})
    except ValidationError as error:
        return [
            Problem(_where(refusal.loc, options), refusal.saw, refusal.expected, refusal.hint)
            for refusal in explain(error, model)
        ]


def _where(loc: tuple[str | int, ...], options: Mapping[str, Option]) -> str:
    if not loc:
        return "command line"
    option = options[str(loc[0])]
    inside = "".join(f" {part}" for part in loc[1:] if part != "[key]")
    return option.flag if option.is_list else option.flag + inside


def _help(prog: str, description: str, examples: str, options: Mapping[str, Option]) -> str:
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options]",
        description=description,
        epilog="examples:\n" + indent(examples, "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for option in options.values():
        words = "+" if option.is_list else "?" if option.is_switch else None
        text = f"{option.text} {_limits(option)}".replace("%", "%%")
        parser.add_argument(option.flag, nargs=words, metavar=option.metavar, help=text)
    return parser.format_help()


def _limits(option: Option) -> str:
    taken = describe(option.field)
    limits = f"{taken}; " if any(mark in taken for mark in (" from ", " of ", " above ", " to ")) else ""
    return f"({limits}{'required' if option.field.is_required() else f'default: {option.default}'})"
