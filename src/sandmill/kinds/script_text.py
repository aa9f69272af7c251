"""Lay out generated Python: lines of at most 100 characters, comments, lists, imports of the names that are used."""

import ast
import re
import textwrap
from collections.abc import Iterable

WIDTH = 100
_MODULES = {
    "ColumnTransformer": "sklearn.compose",
    "ExtraTreesClassifier": "sklearn.ensemble",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "RandomForestClassifier": "sklearn.ensemble",
    "RandomForestRegressor": "sklearn.ensemble",
    "TruncatedSVD": "sklearn.decomposition",
    "CountVectorizer": "sklearn.feature_extraction.text",
    "SimpleImputer": "sklearn.impute",
    "Nystroem": "sklearn.kernel_approximation",
    "LogisticRegression": "sklearn.linear_model",
    "PoissonRegressor": "sklearn.linear_model",
    "Ridge": "sklearn.linear_model",
    "KFold": "sklearn.model_selection",
    "StratifiedKFold": "sklearn.model_selection",
    "OneVsRestClassifier": "sklearn.multiclass",
    "KNeighborsClassifier": "sklearn.neighbors",
    "KNeighborsRegressor": "sklearn.neighbors",
    "FeatureUnion": "sklearn.pipeline",
    "make_pipeline": "sklearn.pipeline",
    "FunctionTransformer": "sklearn.preprocessing",
    "OneHotEncoder": "sklearn.preprocessing",
    "StandardScaler": "sklearn.preprocessing",
    "TargetEncoder": "sklearn.preprocessing",
    "DecisionTreeClassifier": "sklearn.tree",
    "DecisionTreeRegressor": "sklearn.tree",
}
"""Names of scikit-learn that scripts use, with the module to import each from."""
_STANDARD = {
    "json": "import json",
    "Path": "from pathlib import Path",
    "re": "import re",
    "struct": "import struct",
    "wave": "import wave",
    "BytesIO": "from io import BytesIO",
    "ZipFile": "from zipfile import ZipFile",
}
_FEW = 3
"""Most plain values of a broken list that stand on a line each; more share lines."""
_MUCH = 20
"""Characters in brackets that are worth a line of their own."""
_HELD = "\x00"
"""Stands for a space at which a line must not break."""
_PACKAGES = {"np": "import numpy as np", "pd": "import pandas as pd"}


def quoted(text: str) -> str:
    """A string as Python source, in double quotes where that needs no escapes."""
    return f'"{text}"' if '"' not in text and "\\" not in text and text.isprintable() else repr(text)


def listed(names: Iterable[str]) -> str:
    """A list of strings as Python source."""
    return f"[{', '.join(map(quoted, names))}]"


def number(value: float, digits: int = 4) -> str:
    """A number as Python source with a few significant digits."""
    short = float(f"{value:.{digits}g}")
    return repr(int(short)) if short == int(short) and abs(short) < 1e6 else repr(short)


def comment(text: str, indent: int = 0) -> list[str]:
    """A comment, wrapped."""
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent + "# ", subsequent_indent=" " * indent + "# ")


def spaced(body: str) -> str:
    """Set functions apart by two blank lines, and leave no more than two anywhere."""
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n+(?=def )", "\n\n\n", body))


def fold(lines: Iterable[str]) -> list[str]:
    """Break long lines at their last bracket pair, then at its commas, again and again until they fit."""
    return [piece for line in lines for piece in _fold(line)]


def imports(body: str) -> list[str]:
    """Import statements for the names of numpy, pandas and scikit-learn that a script uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    by_module: dict[str, list[str]] = {}
    for name in sorted(used & _MODULES.keys()):
        by_module.setdefault(_MODULES[name], []).append(name)
    standard = [line for name, line in _STANDARD.items() if name in used]
    packages = [line for name, line in _PACKAGES.items() if name in used]
    of_sklearn = fold(f"from {module} import {', '.join(names)}" for module, names in sorted(by_module.items()))
    return [*standard, *([""] if standard else []), *packages, *of_sklearn]


def _fold(line: str) -> list[str]:
    pair = _last_pair(line)
    if len(line) <= WIDTH or line.lstrip().startswith("#") or pair is None:
        return [line]
    opening, closing = pair
    indent = " " * (len(line) - len(line.lstrip()))
    items = _items(line[opening + 1 : closing])
    if len(items) > _FEW and all(_is_plain(item) for item in items):
        held = " ".join(f"{item.replace(' ', _HELD)}," for item in items)
        packed = textwrap.wrap(held, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
        inner = [f"{indent}    {piece.replace(_HELD, ' ')}" for piece in packed]
        return [line[: opening + 1], *inner, indent + line[closing:]]
    comma = "," if len(items) > 1 else ""
    inner = [f"{indent}    {item}{comma}" for item in items]
    return [line[: opening + 1], *fold(inner), indent + line[closing:]]


def _is_plain(item: str) -> bool:
    """Whether an item of a list is a string, a number, or a tuple of numbers."""
    return item[:1] in "\"'" or not re.search(r"[^-\d., ()]", item)


def _last_pair(line: str) -> tuple[int, int] | None:
    """Places of the last bracket pair that lies in no other and holds much, or else something."""
    depth, opening, found, large = 0, 0, None, None
    for place, character in _outside_strings(line):
        if character in "([{":
            opening = place if depth == 0 else opening
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and place > opening + 1:
                found = (opening, place)
                large = found if place > opening + _MUCH else large
    return large or found


def _items(inner: str) -> list[str]:
    """The parts of the inside of a bracket that commas separate; a comprehension is one part."""
    depth, start, items, outer = 0, 0, [], ""
    for place, character in _outside_strings(inner):
        depth += (character in "([{") - (character in ")]}")
        outer += character if depth == 0 else ""
        if character == "," and depth == 0:
            items.append(inner[start:place].strip())
            start = place + 1
    if " for " in outer:
        return [inner.strip()]
    return [item for item in (*items, inner[start:].strip()) if item]


def _outside_strings(line: str) -> Iterable[tuple[int, str]]:
    """Characters that are in no string, with their places."""
    quote, escaped = "", False
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote and not escaped else quote
            escaped = character == "\\" and not escaped
        elif character in "\"'":
            quote = character
        else:
            yield place, character
