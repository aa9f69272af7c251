"""Answer forms: what a submission holds, one object a form, so that nothing else has to know which forms there are."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.package import TaskFacts
from sandmill.scoring.forms.base import AnswerForm
from sandmill.scoring.forms.many_rows import Dense, Pairs, Strings
from sandmill.scoring.forms.masks import Runs
from sandmill.scoring.forms.names import Label, LabelList, RankedList
from sandmill.scoring.forms.numbers import Value, Values
from sandmill.scoring.forms.probabilities import ClassProbabilities, LabelProbabilities, Probability

__all__ = ["FORMS", "AnswerForm", "form_of"]

FORMS: Mapping[str, AnswerForm] = MappingProxyType(
    {
        "probability": Probability(),
        "label": Label(),
        "class_probabilities": ClassProbabilities(),
        "label_probabilities": LabelProbabilities(),
        "label_list": LabelList(),
        "ranked_list": RankedList(),
        "value": Value(),
        "values": Values(),
        "pairs": Pairs(),
        "dense": Dense(),
        "strings": Strings(),
        "runs": Runs(),
    }
)
"""Forms by the name that `TaskFacts.encoding` holds. A new form is a class and a line here."""


def form_of(facts: TaskFacts) -> AnswerForm:
    """Return the form of a task's submissions.

    Raises:
        KeyError: if no form has the name that the facts hold.
    """
    return FORMS[facts.encoding]
