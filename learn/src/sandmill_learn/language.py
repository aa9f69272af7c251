"""The code language of the micro policy: named fragments of Python, which are data files of this package."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from textwrap import indent

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen

OPEN, CLOSE = "```python\n", "```\n"
"""Texts of the first and the last fragment of every complete answer."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""YAML loader: the C version if PyYAML has it."""
_FOLDER = "fragments"
_WORD = re.compile(r'(?<!["\w])[A-Za-z_]\w*')
"""A name, but not the start of a quoted text."""
_REFUSED = "The language was not loaded."


class Fragment(Frozen):
    """A piece of Python source, which is one token of the policy."""

    name: str = Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)?$")
    text: str = Field(min_length=1)
    """Source text, unique in a language."""
    group: str = Field(min_length=1)


class FragmentGroup(Frozen):
    """Fragments of one purpose, as a file lists them."""

    group: str = Field(pattern=r"^[a-z0-9_]+$")
    fragments: dict[str, str] = Field(min_length=1)
    """Source texts by name."""
    indent: int = Field(default=0, ge=0)
    """Spaces before each line."""
    line: bool = True
    """Whether a text ends its line. If not, the next fragment goes on in the same line."""

    def read(self) -> Iterator[Fragment]:
        """Yield the fragments with their complete texts."""
        for name, source in self.fragments.items():
            text = indent(source.rstrip("\n"), " " * self.indent) + ("\n" if self.line else "")
            yield Fragment(name=name, text=text, group=self.group)


class Language(Frozen):
    """All fragments, in a fixed order."""

    fragments: tuple[Fragment, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Fragment]:
        """Fragments by their names."""
        return {fragment.name: fragment for fragment in self.fragments}

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """Name of the fragment that imports each name of Python."""
        statements = (each for each in self.fragments if each.name.startswith("import."))
        return {name: each.name for each in statements for name in _bound_names(each.text)}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """Names of the imports that each fragment needs."""
        return {
            each.name: frozenset(self.imports[word] for word in _WORD.findall(each.text) if word in self.imports)
            for each in self.fragments
            if not each.name.startswith("import.")
        }

    def text(self, names: Iterable[str]) -> str:
        """Join the texts of fragments.

        Raises:
            InputError: if the language has no fragment of a name; it lists all unknown names.
        """
        wanted = list(names)
        if unknown := [name for name in dict.fromkeys(wanted) if name not in self.by_name]:
            expected = f"a fragment of the language, such as {self.fragments[0].name}"
            raise InputError("fragments", [Problem("name", repr(name), expected) for name in unknown], "No text.")
        return "".join(self.by_name[name].text for name in wanted)

    def answer(self, names: Iterable[str]) -> str:
        """Join the texts of the fragments of a script, and put the fence around it if it is missing."""
        text = self.text(names)
        start = "" if text.startswith(OPEN) else OPEN
        end = "" if text.endswith(CLOSE) else CLOSE
        return start + text + end


@cache
def load_language() -> Language:
    """Read the language from the files of this package.

    Raises:
        InputError: if a file is not valid, or two fragments have the same name or text; it lists all problems.
    """
    paths = sorted(files("sandmill_learn").joinpath(_FOLDER).iterdir(), key=lambda path: path.name)
    return parse_language({path.name: path.read_text("utf-8") for path in paths if path.name.endswith(".yaml")})


def parse_language(documents: Mapping[str, str]) -> Language:
    """Build a language from the texts of its files.

    Args:
        documents: YAML texts by file name, in the order of the language.

    Raises:
        InputError: if a text is not valid, or two fragments have the same name or text; it lists all problems.
    """
    problems: list[Problem] = []
    fragments = [part for name, text in documents.items() for part in _read(name, text, problems)]
    problems += _repeated([part.name for part in fragments], "name")
    problems += _repeated([part.text for part in fragments], "text")
    texts = {part.text for part in fragments}
    problems += [Problem("fragments", "none with this text", repr(mark)) for mark in (OPEN, CLOSE) if mark not in texts]
    if problems:
        raise InputError("fragments", problems, _REFUSED)
    return Language(fragments=tuple(fragments))


def _read(name: str, text: str, problems: list[Problem]) -> list[Fragment]:
    try:
        groups = TypeAdapter(list[FragmentGroup]).validate_python(yaml.load(text, _LOADER))
        return [fragment for group in groups for fragment in group.read()]
    except yaml.YAMLError as error:
        problems.append(Problem(name, str(error), "a YAML file"))
    except ValidationError as error:
        for each in error.errors():
            where = ".".join(map(str, each["loc"]))
            problems.append(Problem(f"{name}, {where}", repr(each["input"]), each["msg"]))
    return []


def _bound_names(statement: str) -> list[str]:
    """Return the names that an import statement binds."""
    listed = statement.strip().rpartition("import ")[2]
    return [part.split(" as ")[-1].strip() for part in listed.split(",")]


def _repeated(values: Sequence[str], what: str) -> list[Problem]:
    return [
        Problem("fragments", f"{count} times the {what} {value!r}", f"each {what} once")
        for value, count in Counter(values).items()
        if count > 1
    ]
