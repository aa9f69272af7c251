"""Find the milestones of a script by its calls and assignments, without running it, and plan where markers go.

The rules know the usual libraries. They are guesses: a marker says that such a statement was reached, no more.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sandmill.models.rollout import Marker

FEATURE_CLASSES = re.compile(
    r"\w*(Scaler|Encoder|Imputer|Vectorizer|Transformer|Binarizer|Discretizer|PCA|SVD|PolynomialFeatures)"
    r"|make_column_transformer"
)
MODEL_CLASSES = re.compile(
    r"\w*(Classifier|Regressor|Regression|Ridge|Lasso|ElasticNet|Perceptron|SVC|SVR|NB|Boost|KMeans|SearchCV|Sequential)"
    r"(CV)?|(make_p|P)ipeline"
)
CALLS = {
    Marker.DATA_LOADED: re.compile(
        r"(read|scan)_\w+|DictReader|ZipFile|fromfile|genfromtxt|imread|load|loadtxt|memmap|reader"
    ),
    Marker.FEATURES: re.compile(
        r"assign|factorize|fillna|fit_resample|fit_transform|get_dummies|to_dummies|transform|with_columns"
    ),
    Marker.TRAINED: re.compile(
        r"backward|cross_val_predict|cross_val_score|cross_validate|curve_fit|fit|fit_predict|lstsq|minimize"
        r"|partial_fit|polyfit|solve"
    ),
    Marker.PREDICTED: re.compile(r"predict\w*|cross_val_predict|decision_function|fit_predict|kneighbors|polyval"),
}
"""Names of functions and methods by the milestone that a call of them reaches."""
TABLE_WRITERS = frozenset({"savetxt", "to_csv", "write_csv"})
WRITERS = TABLE_WRITERS | {"write_bytes", "write_text"}
"""Calls that write a submission if their path is one."""
MOVERS = frozenset({"copy", "copy2", "copyfile", "move", "rename", "replace"})
"""Functions of `os` and `shutil` that do so too. Tables and strings have methods with the same names."""
WRITE_MODE = re.compile(r"[bt+]*[wax][bt+]*")
SUBMISSION = re.compile(r"submission|argv|\bout(put)?(_|\b)", re.IGNORECASE)
"""Words in the path of a submission, or in the names from which the path comes."""
TRANSFORMERS = re.compile(r"scal|enc|imput|vec|transf|pca|svd|tfidf", re.IGNORECASE)
"""Words in the names of objects whose `fit` makes features."""
FEATURE_TABLES = re.compile(r"(X|feats?|features?)(_\w+|\d+)?")
"""Names of tables of features."""
NO_FEATURES = re.compile(
    r"sub|sample|param|conf|model|score|result|env|kw|opt|pred|out|cache|seed|weight|metric|answer|sys", re.IGNORECASE
)
"""Words in the names of tables and dictionaries whose items are no features."""
_COMPOUND = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While),
    *(ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
)
_ENDS_BLOCK = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Plan:
    """Markers before and after each statement."""

    def __init__(self) -> None:
        self.before: defaultdict[ast.stmt, set[Marker]] = defaultdict(set)
        self.after: defaultdict[ast.stmt, set[Marker]] = defaultdict(set)

    def add_after(self, body: Sequence[ast.stmt], place: int, markers: set[Marker]) -> None:
        """Add markers after a statement of a body.

        After a block they go before the next statement, which leaves its line where it is. If the next one is a block
        too, or the body ends, they go behind the last simple statement within the block.
        """
        node = body[place]
        if not isinstance(node, _COMPOUND):
            self.after[node] |= markers
        elif place + 1 < len(body) and not isinstance(body[place + 1], _COMPOUND):
            self.before[body[place + 1]] |= markers
        elif last := _last_simple(node):
            side = self.before if isinstance(last, _ENDS_BLOCK) else self.after
            side[last] |= markers


def plan_markers(tree: ast.Module) -> Plan:
    """Return the places of all markers."""
    plan, names = Plan(), _ScriptNames(tree)
    fields = (value for node in ast.walk(tree) for _, value in ast.iter_fields(node))
    for body in fields:
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            for place, node in enumerate(body):
                # The milestones of its block belong to the statements in it.
                markers = {marker for call in _calls_of(node) for marker in _call_markers(call, names)}
                if markers := markers | ({Marker.FEATURES} if _assigns_feature(node) else set()):
                    plan.add_after(body, place, markers)
    imports = [place for place, node in enumerate(tree.body) if isinstance(node, ast.Import | ast.ImportFrom)]
    # Only others of its kind may precede `from __future__ import ...`.
    if imports and getattr(tree.body[imports[-1]], "module", "") != "__future__":
        plan.add_after(tree.body, imports[-1], {Marker.IMPORTS})
    return plan


class _ScriptNames:
    """Names of models, and names that come from the path of a submission."""

    def __init__(self, tree: ast.Module) -> None:
        self._models, self._submissions = set[str](), set[str]()
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.mention_submission([value]):
                    self._submissions.add(name)
                case ast.ImportFrom(names=names):
                    self._models |= {one.asname for one in names if one.asname and MODEL_CLASSES.fullmatch(one.name)}
                case ast.ClassDef(name=name, body=body):
                    methods = {part.name for part in body if isinstance(part, ast.FunctionDef)}
                    self._models |= {name} if methods & {"fit", "forward", "predict"} else set()

    def is_model(self, call: ast.Call) -> bool:
        """Return whether a call constructs a model or a layer of a neural network."""
        name = _name_of(call)
        is_layer = isinstance(call.func, ast.Attribute) and _root_of(call.func) == "nn" and name[:1].isupper()
        return is_layer or name in self._models or bool(MODEL_CLASSES.fullmatch(name))

    def mention_submission(self, nodes: Sequence[ast.expr]) -> bool:
        """Return whether expressions, or what was assigned to their names before, have the words of a submission."""
        words = (word for node in nodes for word in _words_of(node))
        return any(SUBMISSION.search(word) or word in self._submissions for word in words)


def _words_of(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Constant(value=str(word)) | ast.Name(id=word) | ast.Attribute(attr=word):
                yield word


def _calls_of(node: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls of a statement itself, without those of its block and of functions without a name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Raise)):
        return
    blocks = (ast.stmt, ast.excepthandler, ast.match_case, ast.Lambda)
    stack: list[ast.AST] = [node]
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Call):
            yield inner
        stack += [part for part in ast.iter_child_nodes(inner) if not isinstance(part, blocks)]


def _call_markers(call: ast.Call, names: _ScriptNames) -> Iterator[Marker]:
    name, is_method = _name_of(call), isinstance(call.func, ast.Attribute)
    found = {marker for marker, known in CALLS.items() if known.fullmatch(name)}
    if name == "open" and not _is_write(call):
        found.add(Marker.DATA_LOADED)
    is_of_files = not is_method or _root_of(call.func) in ("os", "shutil")
    if name in WRITERS or (is_of_files and name in MOVERS) or (name == "open" and _is_write(call)):
        found |= {Marker.SUBMISSION_WRITTEN} if _is_submission(call, names) else set()
    if FEATURE_CLASSES.fullmatch(name):
        found.add(Marker.FEATURES)
    elif names.is_model(call):
        found.add(Marker.MODEL_BUILT)
    if name == "train" and call.args:
        found.add(Marker.TRAINED)
    if name == "fit" and TRANSFORMERS.search(_root_of(call.func)):
        found ^= {Marker.TRAINED, Marker.FEATURES}
    if not is_method and name.startswith("predict"):
        found.discard(Marker.PREDICTED)  # a function of the script, whose own statements have the marker
    yield from found


def _assigns_feature(node: ast.stmt) -> bool:
    """Return whether a column is assigned, or a table with a usual name for features."""
    if not isinstance(node, ast.Assign):
        return False
    parts = [part for one in node.targets for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])]
    return any(map(_is_feature, parts))


def _is_feature(target: ast.expr) -> bool:
    match target:
        case ast.Name(id=name):
            return bool(FEATURE_TABLES.fullmatch(name))
        case ast.Subscript(value=table, slice=ast.Constant(value=str()) | ast.JoinedStr() | ast.List() | ast.Name()):
            return not NO_FEATURES.search(ast.unparse(table))
        case _:
            return False


def _is_write(call: ast.Call) -> bool:
    """Return whether `open`, or a method `open` of a path, writes."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    modes += call.args[:2] if isinstance(call.func, ast.Attribute) else call.args[1:2]
    return any(WRITE_MODE.fullmatch(text) for text in _texts_in(modes))


def _is_submission(call: ast.Call, names: _ScriptNames) -> bool:
    """Return whether the words of a path, or of the object that is written, are those of a submission."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("file", "path_or_buf"))]
    if _name_of(call) in TABLE_WRITERS and (not given or _texts_in(given)):
        return any(map(SUBMISSION.search, _texts_in(given)))
    return names.mention_submission([*given, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])])


def _texts_in(nodes: Sequence[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _name_of(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _root_of(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last_simple(node: ast.stmt) -> ast.stmt | None:
    while isinstance(node, _COMPOUND):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)):
            return None
        node = node.body[-1]
    return node
