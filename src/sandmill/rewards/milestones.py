"""Find the milestones of a script by its calls and assignments, without running it, and plan where markers go.

The rules know the usual libraries. They are guesses: a marker says that such a statement was reached, no more.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sandmill.models.rollout import Marker

_DEEPEST_NAME = 3
"""Assignments that are followed from the path of a file back to the words in it."""
FEATURE_MODULES = re.compile(
    r"sklearn\.(preprocessing|compose|feature_extraction|feature_selection|decomposition|impute|kernel_approximation"
    r"|random_projection|manifold)\b"
)
MODEL_MODULES = re.compile(
    r"sklearn\.(?!metrics|utils|datasets|base|exceptions|model_selection|inspection)|(lightgbm|xgboost|catboost|keras"
    r"|tensorflow\.keras|torch\.nn)\b"
)
FEATURE_CLASSES = re.compile(
    r"\w*(Scaler|Encoder|Imputer|Vectorizer|Transformer|Binarizer|Discretizer|PCA|SVD|PolynomialFeatures)"
    r"|make_column_transformer"
)
MODEL_CLASSES = re.compile(
    r"\w*(Classifier|Regressor|Regression|Ridge|Lasso|ElasticNet|Perceptron|SVC|SVR|NB|Boost|KMeans|SearchCV|Sequential)"
    r"(CV)?|(make_p|P)ipeline"
)
NOT_CLASSES = frozenset({"Dataset", "DMatrix", "Pool"})
"""Containers of data in the modules of models."""
FEATURE_CALLS = frozenset(
    (
        *("assign", "factorize", "fillna", "fit_resample", "fit_transform"),
        *("get_dummies", "to_dummies", "transform", "with_columns"),
    )
)
TRAINING_CALLS = frozenset(
    (
        *("backward", "cross_val_predict", "cross_val_score", "cross_validate", "curve_fit", "fit"),
        *("fit_predict", "lstsq", "minimize", "partial_fit", "polyfit", "solve"),
    )
)
PREDICTION_CALLS = frozenset({"cross_val_predict", "decision_function", "fit_predict", "kneighbors", "polyval"})
READING_CALLS = frozenset(
    {"DictReader", "ZipFile", "fromfile", "genfromtxt", "imread", "load", "loadtxt", "memmap", "reader"}
)
WRITING_CALLS = frozenset({"savetxt", "to_csv", "write_bytes", "write_csv", "write_text"})
"""Calls that write a submission if their path is one."""
MOVING_CALLS = frozenset({"copy", "copy2", "copyfile", "move", "rename", "replace"})
"""Functions of `os` and `shutil` that do so too. Tables and strings have methods with the same names."""
WRITE_MODE = re.compile(r"[bt+]*[wax][bt+]*")
SUBMISSION = re.compile(r"submission|argv|\bout(put)?(_|\b)", re.IGNORECASE)
"""Words in the path of a submission, or in the names from which the path comes."""
FEATURE_TABLES = re.compile(r"(X|feats?|features?)(_\w+|\d+)?")
"""Names of tables of features."""
NO_FEATURES = re.compile(
    r"sub|sample|param|conf|model|score|result|env|kw|opt|pred|out|cache|seed|weight|metric|answer", re.IGNORECASE
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

    @property
    def statements(self) -> set[ast.stmt]:
        """Statements with markers."""
        return {*self.before, *self.after}

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
    for body in _bodies_of(tree):
        for place, node in enumerate(body):
            if markers := _markers_of(node, names):
                plan.add_after(body, place, markers)
    _plan_imports(tree, plan)
    return plan


def _plan_imports(tree: ast.Module, plan: Plan) -> None:
    """Place the marker behind the last import of the module, or behind all imports if they are in blocks only."""
    top = [place for place, node in enumerate(tree.body) if _is_import(node)]
    if top:
        plan.add_after(tree.body, top[-1], {Marker.IMPORTS})
        return
    for body in _bodies_of(tree):
        for place, node in enumerate(body):
            if _is_import(node):
                plan.add_after(body, place, {Marker.IMPORTS})


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_future_import(node)


class _ScriptNames:
    """What the names of a script stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self.values: dict[str, ast.expr] = {}
        self._classes: dict[str, Marker] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values[name] = value
                case ast.ImportFrom(module=str(module)):
                    self._import(module, node.names)
                case ast.ClassDef(name=name) if _has_method(node, "fit", "forward", "predict"):
                    self._classes[name] = Marker.MODEL_BUILT
                case ast.ClassDef(name=name) if _has_method(node, "transform"):
                    self._classes[name] = Marker.FEATURES
        self._submissions = self._find_submissions()

    def _import(self, module: str, names: list[ast.alias]) -> None:
        for alias in names:
            if not alias.name[:1].isupper() or alias.name in NOT_CLASSES:
                continue
            if FEATURE_MODULES.match(module):
                self._classes[alias.asname or alias.name] = Marker.FEATURES
            elif MODEL_MODULES.match(module):
                self._classes[alias.asname or alias.name] = Marker.MODEL_BUILT

    def class_marker(self, call: ast.Call) -> Marker | None:
        """Return the marker of a constructor."""
        name = _name_of(call)
        if isinstance(call.func, ast.Name) and name in self._classes:
            return self._classes[name]
        if FEATURE_CLASSES.fullmatch(name):
            return Marker.FEATURES
        is_layer = isinstance(call.func, ast.Attribute) and _root_of(call.func) == "nn" and name[:1].isupper()
        return Marker.MODEL_BUILT if is_layer or MODEL_CLASSES.fullmatch(name) else None

    def is_transformer(self, node: ast.expr, depth: int = 0) -> bool:
        """Return whether an expression is an object that makes features, such as a scaler."""
        if isinstance(node, ast.Name) and depth < _DEEPEST_NAME and node.id in self.values:
            return self.is_transformer(self.values[node.id], depth + 1)
        if not isinstance(node, ast.Call):
            return False
        is_chain = isinstance(node.func, ast.Attribute) and node.func.attr in ("fit", "set_output")
        if is_chain and isinstance(node.func, ast.Attribute):
            return self.is_transformer(node.func.value, depth)
        return self.class_marker(node) is Marker.FEATURES

    def mentions_submission(self, node: ast.expr) -> bool:
        """Return whether an expression, or what was assigned to its names, has the words of a submission."""
        return any(SUBMISSION.search(word) or word in self._submissions for word in _words_of(node))

    def _find_submissions(self) -> frozenset[str]:
        """Return the names whose values come from the path of a submission, over a few assignments."""
        mentioned = {name: set(_words_of(value)) for name, value in self.values.items()}
        found = {name for name, said in mentioned.items() if any(SUBMISSION.search(word) for word in said)}
        for _ in range(_DEEPEST_NAME):
            found |= {name for name, said in mentioned.items() if said & found}
        return frozenset(found)


def _words_of(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Constant(value=str(word)) | ast.Name(id=word) | ast.Attribute(attr=word):
                yield word


def _markers_of(node: ast.stmt, names: _ScriptNames) -> set[Marker]:
    """Return the milestones that a statement reaches itself; those of its block belong to the statements in it."""
    markers = {marker for call in _calls_of(node) for marker in _call_markers(call, names)}
    return markers | ({Marker.FEATURES} if _assigns_feature(node) else set())


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
    name = _name_of(call)
    if name == "open":
        if not _is_write(call):
            yield Marker.DATA_LOADED
        elif _is_submission(call, names):
            yield Marker.SUBMISSION_WRITTEN
    elif (name in WRITING_CALLS or _moves_file(call)) and _is_submission(call, names):
        yield Marker.SUBMISSION_WRITTEN
    elif name.startswith(("read_", "scan_")) or name in READING_CALLS:
        yield Marker.DATA_LOADED
    if made := names.class_marker(call):
        yield made
    if name in FEATURE_CALLS:
        yield Marker.FEATURES
    if name in TRAINING_CALLS or (name == "train" and call.args):
        is_features = isinstance(call.func, ast.Attribute) and names.is_transformer(call.func.value)
        yield Marker.FEATURES if is_features else Marker.TRAINED
    if (name.startswith("predict") and isinstance(call.func, ast.Attribute)) or name in PREDICTION_CALLS:
        yield Marker.PREDICTED


def _assigns_feature(node: ast.stmt) -> bool:
    """Return whether a column is assigned, or a table with a usual name for features."""
    if not isinstance(node, ast.Assign):
        return False
    return any(_is_feature(part) for target in node.targets for part in _parts_of(target))


def _parts_of(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _is_feature(target: ast.expr) -> bool:
    match target:
        case ast.Name(id=name):
            return bool(FEATURE_TABLES.fullmatch(name))
        case ast.Subscript(value=table, slice=ast.Constant(value=str()) | ast.JoinedStr() | ast.List() | ast.Name()):
            return not NO_FEATURES.search(ast.unparse(table)) and _root_of(table) not in ("os", "sys")
        case _:
            return False


def _is_write(call: ast.Call) -> bool:
    """Return whether `open`, or a method `open` of a path, writes."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    modes += call.args[:2] if isinstance(call.func, ast.Attribute) else call.args[1:2]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(WRITE_MODE.fullmatch(text) for text in texts)


def _moves_file(call: ast.Call) -> bool:
    is_of_files = isinstance(call.func, ast.Name) or _root_of(call.func) in ("os", "shutil")
    return is_of_files and _name_of(call) in MOVING_CALLS


def _is_submission(call: ast.Call, names: _ScriptNames) -> bool:
    """Return whether the words of a path, or of the object that is written, are those of a submission."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("file", "path_or_buf"))]
    if not given and _name_of(call) in ("to_csv", "write_csv"):
        return False
    literals = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if literals and _name_of(call) in ("to_csv", "write_csv", "savetxt"):
        return any(SUBMISSION.search(text) for text in literals)
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return any(names.mentions_submission(part) for part in [*given, *receiver])


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


def _has_method(node: ast.ClassDef, *names: str) -> bool:
    return any(isinstance(part, ast.FunctionDef) and part.name in names for part in node.body)


def _bodies_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in a node, all levels."""
    for child in ast.walk(node):
        for _, value in ast.iter_fields(child):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def _is_future_import(node: ast.stmt) -> bool:
    """Return whether a statement is `from __future__ import ...`, which only others of its kind may precede."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _last_simple(node: ast.stmt) -> ast.stmt | None:
    while isinstance(node, _COMPOUND):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)):
            return None
        node = node.body[-1]
    return node
