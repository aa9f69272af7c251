"""Naive scripts: the columns that pandas reads as numbers, and one model at its default settings."""

from sandmill.calibrate.scripts.decisions import decision_lines
from sandmill.calibrate.scripts.findings import PanelFindings
from sandmill.calibrate.scripts.members import Solver
from sandmill.calibrate.scripts.write import answer_of, constants, finish, reading_block, submission_block, target_block
from sandmill.calibrate.solvers import naive
from sandmill.kinds.script_text import listed, quoted

_WORDS = 50
"""Commonest words that a first try counts in texts."""


def models_to_try(found: PanelFindings) -> tuple[tuple[str, str, Solver], ...]:
    """Models as source, each with what it does and a solver of the panel that does nearly the same."""
    kind = "Classifier" if found.facts.classes and not found.facts.is_wide else "Regressor"
    columns = "counts of common words" if found.texts else "the numbers as they are"
    return (
        (f"DecisionTree{kind}(max_depth=3, random_state=0)", f"a small decision tree on {columns}", naive.small_tree),
        (f"DecisionTree{kind}(random_state=0)", f"a decision tree on {columns}", naive.full_tree),
        (f"KNeighbors{kind}(5)", f"the five nearest rows, by {columns}", naive.nearest_by_numbers),
    )


def write_first_try(found: PanelFindings, model: str, idea: str, decision: str) -> str:
    """Write a script with one model on plain columns."""
    return finish(found, idea, [*_blocks(found, model), decision_lines(found, decision), submission_block(found)])


def first_try_block(found: PanelFindings, model: str) -> str:
    """Source that defines `said`, what the model says of the test rows."""
    return finish(found, "", _blocks(found, model))


def _blocks(found: PanelFindings, model: str) -> list[list[str]]:
    taken = [name for name in found.plain if name not in (*found.dates, *found.measures)]
    if found.texts:
        name = quoted(next(iter(found.texts)))
        tables = [
            f"counter = CountVectorizer(max_features={_WORDS}).fit(train[{name}])",
            f"known, asked = (counter.transform(table[{name}]).toarray() for table in (train, test))",
        ]
    elif taken:
        tables = [f"columns = {listed(taken)}", "known, asked = train[columns].fillna(0), test[columns].fillna(0)"]
    else:
        tables = [
            f"columns = {listed(found.categories)}",
            "known, asked = pd.get_dummies(train[columns]), pd.get_dummies(test[columns])",
            "asked = asked.reindex(columns=known.columns, fill_value=False)",
        ]
    fit = [f"model = {model}.fit(known, y)", *answer_of(found, "asked", mixed=True)]
    fit[-1] = fit[-1].replace("return ", "said = ")
    return [[*constants(found, []), "", *reading_block(found)], [*target_block(found), *tables], fit]
