"""Answer forms: what a submission holds, one object a form, so that nothing else has to know which forms there are."""

from collections.abc import Mapping
from importlib.resources import files

import yaml

from sandmill.models.package import TaskFacts
from sandmill.scoring.forms.base import AnswerForm
from sandmill.scoring.forms.many_rows import Dense, Pairs, Strings
from sandmill.scoring.forms.names import Label, LabelList, RankedList
from sandmill.scoring.forms.numbers import ClassProbabilities, LabelProbabilities, Probability, Value, Values
from sandmill.scoring.forms.runs import Runs

__all__ = ["FORMS", "AnswerForm", "form_of"]

_TEXTS: Mapping[str, Mapping[str, str]] = yaml.safe_load((files("sandmill.scoring") / "forms.yaml").read_text("utf-8"))
_CLASSES: Mapping[str, type[AnswerForm]] = {
    "probability": Probability,
    "label": Label,
    "class_probabilities": ClassProbabilities,
    "label_probabilities": LabelProbabilities,
    "label_list": LabelList,
    "ranked_list": RankedList,
    "value": Value,
    "values": Values,
    "pairs": Pairs,
    "dense": Dense,
    "strings": Strings,
    "runs": Runs,
}
FORMS: Mapping[str, AnswerForm] = {name: form(_TEXTS[name]) for name, form in _CLASSES.items()}
"""Forms by the name that `TaskFacts.encoding` holds. A new form is a class, a line here and texts in forms.yaml."""


def form_of(facts: TaskFacts) -> AnswerForm:
    """Return the form of a task's submissions.

    Raises:
        KeyError: if no form has the name that the facts hold.
    """
    return FORMS[facts.encoding]
