"""Put a script together from blocks, each only where the task needs it."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from sandmill.calibrate.scripts import block
from sandmill.calibrate.scripts.decisions import answered, decision_lines
from sandmill.calibrate.scripts.findings import PanelFindings, feature_block
from sandmill.calibrate.scripts.members import ScriptModel, columns_block, feature_lists, features_of
from sandmill.calibrate.solvers.table import TOKEN
from sandmill.kinds.script_text import WIDTH, comment, fold, imports, listed, quoted, spaced
from sandmill.models.kind import kind_named
from sandmill.scoring import get_metric

TOKEN_SOURCE = f'r"{TOKEN}"'


def write_script(found: PanelFindings, members: Sequence[ScriptModel], decision: str) -> str:
    """Write a script that fits models on prepared columns and answers with their average."""
    found = narrowed(found, members)
    average = "[predict(name) for name in models], axis=0"
    said = f"np.mean({average})" if len(members) > 1 else f"predict({quoted(members[0].name)})"
    blocks = [
        [*preparation_block(found, members), "", "", *predict_function(found, members), "", "", f"said = {said}"],
        decision_lines(found.facts, found.scale, decision),
        submission_block(found),
    ]
    return finish(found, approach_of(members), blocks)


def members_block(found: PanelFindings, members: Sequence[ScriptModel]) -> str:
    """Source that defines `predict`, which gives what one of the models says of the test rows."""
    return finish(found, "", [[*preparation_block(found, members), *predict_function(found, members)]])


def approach_of(members: Sequence[ScriptModel]) -> str:
    """What a script does, as a clause."""
    ideas = [member.idea for member in members]
    return ideas[0] if len(ideas) == 1 else f"the average of {', '.join(ideas[:-1])} and {ideas[-1]}"


def preparation_block(found: PanelFindings, members: Sequence[ScriptModel]) -> list[str]:
    """Everything up to the models: read, clean, add features, define the models."""
    features = feature_block(features_of(found, members), "NUMBERS")
    lines = [*constants(found, members), "", *reading_block(found), *_cleaning(found), ""]
    if features:
        lines += ["", *features, "", "", "train, test = add_features(train), add_features(test)"]
    for name in found.later_dates:
        lines += [
            *comment("A straight line over days must not run on into days that training has not seen"),
            f"test[{quoted(name)}] = test[{quoted(name)}].clip(upper=train[{quoted(name)}].max())",
        ]
    return [*lines, *target_block(found), "", *columns_block(found, members)]


def constants(found: PanelFindings, members: Sequence[ScriptModel]) -> list[str]:
    """Names of columns and classes."""
    facts = found.facts
    lines = [f"ID = {quoted(facts.id_column)}"]
    if facts.target_columns == (facts.target_column,):
        lines[0] = f"ID, TARGET = {quoted(facts.id_column)}, {quoted(facts.target_column)}"
    if facts.target == "multi_target":
        lines.append(f"TARGETS = {listed(facts.target_columns)}")
    if facts.classes and not found.facts.is_binary:
        lines.append(f"CLASSES = {listed(facts.classes)}")
    if members:
        lines += [f"NUMBERS = {listed(found.numbers)}"] if found.numbers else []
        lines += [f"CATEGORIES = {listed(found.categories)}"] if found.categories else []
        lines += [f"{name} = {listed(made)}" for name, made in feature_lists(found, members).items()]
    return lines


def predict_function(found: PanelFindings, members: Sequence[ScriptModel]) -> list[str]:
    """A function that fits one of the models and answers for the test rows."""
    lines = ["def predict(name):", '    """Fit a model on all training rows and ask it about the test rows."""']
    lines += ["    model = models[name]", "    model.fit(train, y)"]
    needs_numbers = any("Regressor(" in member.steps[-1] for member in members)
    return lines + [f"    {line}" for line in answer_of(found, "test", mixed=needs_numbers)]


def submission_block(found: PanelFindings) -> list[str]:
    """Write ids and answers in the form that the task asks for."""
    facts = found.facts
    match facts.encoding:
        case "values" | "class_probabilities" | "label_probabilities":
            made = block("table of answers", names="TARGETS" if facts.encoding == "values" else "CLASSES")
        case _:
            made = block("pairs" if facts.encoding == "pairs" else "answers", answered=answered(facts))
    return [*made, *block("save")]


def finish(found: PanelFindings, approach: str, blocks: Sequence[Sequence[str]]) -> str:
    """Add the head and break long lines."""
    body = spaced("\n\n".join("\n".join(fold(block)).strip("\n") for block in blocks))
    return "\n".join([*_head(found, approach), "", *imports(body), "", body]) + "\n"


def _head(found: PanelFindings, approach: str) -> list[str]:
    facts, metric = found.facts, get_metric(found.facts.metric)
    direction = "lower" if metric.is_lower_better else "higher"
    about = f'"""Predict {facts.target_column} for the test data. Scored by {metric.title}; {direction} is better.'
    approach = f"Approach: {approach}."
    return block("head", about=textwrap.fill(about, WIDTH), approach=textwrap.fill(approach, WIDTH))


def reading_block(found: PanelFindings) -> list[str]:
    """Read the public files, as the kind's reader does, and what their texts state."""
    kind = kind_named(found.facts.kind)
    if found.cues:
        lines: list[str] = kind.load("measures").source(found.facts, found.cues)
    else:
        lines = kind.load("reader").source(found.facts)
    return [*lines, *(["", "", *found.reading, ""] if found.reading else [])]


def _cleaning(found: PanelFindings) -> list[str]:
    kinds = found.table.kinds
    lines = [line for name, directions in found.table.texts.items() for line in words_lines(name, directions)]
    lines += block("measures", names=listed(kinds.measures)) if kinds.measures else []
    lines += block("dates", names=listed(kinds.dates)) if kinds.dates else []
    return lines + (block("copies") if found.table.has_copies else [])


def words_lines(name: str, directions: int) -> list[str]:
    """Turn a text column into numbers, as `solvers.table` does."""
    return block("words", token=TOKEN_SOURCE, quoted=quoted(name), name=name, directions=str(directions))


def target_block(found: PanelFindings) -> list[str]:
    """The target as models are fitted to it, `y`."""
    facts = found.facts
    match facts.target:
        case "multilabel" if facts.encoding in ("label_list", "pairs"):
            return ['y = train[TARGET].fillna("").str.get_dummies(" ").reindex(columns=CLASSES, fill_value=0)']
        case "multilabel":
            return ["y = train[CLASSES].astype(int)"]
        case "multi_target":
            logs = []
            if found.scale == "log1p":
                logs = [
                    "y = np.log1p(y)  # the metric compares logarithms",
                    "low, high = y.min().to_numpy(), y.max().to_numpy()",
                ]
            spread = "center, spread = y.mean().to_numpy(), y.std().to_numpy()"
            return ["y = train[TARGETS]", *logs, spread, "y = (y - center) / spread  # targets count alike"]
        case _ if facts.classes:
            return ["y = train[TARGET]" if found.facts.is_binary else "y = train[TARGET].map(CLASSES.index)"]
        case _:
            scaled = {"log1p": "np.log1p(train[TARGET])", "log": "np.log(train[TARGET])"}.get(found.scale)
            note = "  # the metric weighs an error by the size of the number"
            return [f"y = {scaled}{note}" if scaled else "y = train[TARGET]"]


def answer_of(found: PanelFindings, rows: str, *, mixed: bool = False) -> list[str]:
    """Lines that end in `return` and what `model` says of rows."""
    facts = found.facts
    if not facts.classes:
        scaled = " * spread + center" if facts.target == "multi_target" else ""
        return [f"return model.predict({rows}){scaled}"]
    if facts.is_wide and mixed:
        return [f'return getattr(model, "predict_proba", model.predict)({rows})']
    if facts.is_wide or not found.absent_classes:
        return [f"return model.predict_proba({rows})"]
    return [
        f"chances = pd.DataFrame(model.predict_proba({rows}), columns=model.classes_)",
        f"return chances.reindex(columns=range({len(facts.classes)}), fill_value=0).to_numpy()",
    ]


_FEATURES_ALONE = "sparse"
"""Set of columns that holds found features and nothing else."""


_ASSIGNED = re.compile(r'    (?:df\["([^"\\]+)"\]|(?!df )(\w+)) = (.*)')
"""A statement that makes a column of `df`, or a variable."""
_IDLE = re.compile(r'def \w+\(df\):\n    """.*"""\n    df = df.copy\(\)\n    return df\n\n\n.*(?:\n|$)')
"""A function that changes nothing, with its call."""


def narrowed(found: PanelFindings, members: Sequence[ScriptModel]) -> PanelFindings:
    """Return what a script needs to know if all of its models read a few found features alone.

    Items of other kinds than tables show a dozen columns, and each takes a function of its own to measure.
    """
    if not found.cues or any(member.columns != _FEATURES_ALONE for member in members):
        return found
    features = features_of(found, members)
    columns = frozenset((*found.numbers, *found.categories, *(cue.column for cue in found.cues)))
    needed = {name for feature in features for name in (*feature.names, *_quoted(*feature.lines)) if name in columns}
    kept = list[str]()
    for line in reversed(found.reading):
        if made := _ASSIGNED.match(line):
            if (made[1] or made[2]) not in needed:
                continue
            needed -= {made[1] or made[2]} - columns
            needed |= (set(_quoted(made[3])) & columns) | set(re.findall(r"\b[a-z]+\b", re.sub('"[^"]*"', "", made[3])))
        kept.insert(0, line)
    cues = tuple(cue for cue in found.cues if cue.column in needed)
    if not cues:
        return found
    unused = ({cue.column for cue in found.cues} | (columns & set(_quoted(*found.reading)))) - needed
    return replace(
        found,
        cues=cues,
        reading=tuple(_IDLE.sub("", "\n".join(kept)).splitlines()),
        numbers=tuple(name for name in found.numbers if name not in unused),
        categories=tuple(name for name in found.categories if name not in unused),
    )


def _quoted(*lines: str) -> list[str]:
    return [name for line in lines for name in re.findall(r'"([^"\\]+)"', line)]
