"""What models say turned into the answer that the metric rewards, as source."""

from sandmill.calibrate.scripts import BLOCKS, block
from sandmill.models.package import TaskFacts

_AT_HALF = ("accuracy", "top1_error", "f1_micro")
_SETS = ("f1_micro", "f1_macro")
AS_SAID = "as said"
"""The decision that has no block: what models say is the answer, at most clipped."""


def decisions_of(facts: TaskFacts) -> tuple[str, ...]:
    """Names of the ways to decide that are worth a try, the usual one first."""
    if facts.encoding == "label":
        if facts.metric in _AT_HALF:
            return ("likeliest",)
        if facts.metric == "balanced_accuracy":
            return ("by share", "likeliest")
        if facts.metric == "qwk":
            return ("grades by rank", "expected grade")
        return (
            ("by share of rows", "best expected score")
            if len(facts.classes) == 2
            else ("by rate", "leaning", "likeliest")
        )
    if facts.encoding == "label_list":
        if facts.metric == "f1_samples":
            return ("best sets",)
        return ("labels by share", "likely labels") if facts.metric in _SETS else ("likely labels",)
    return (AS_SAID,)


def decision_lines(facts: TaskFacts, scale: str, decision: str) -> list[str]:
    """Source that turns `said`, the average of the models, into `answer`, as numbers or class codes.

    Models of numbers were fitted on a scale: raw, log1p or log.
    """
    expected = BLOCKS["expected"]
    lines = (
        _as_said(facts, scale)
        if decision == AS_SAID
        else block(decision, expected=expected.get(facts.metric, expected["f1"]))
    )
    if not any("shares" in line for line in lines):
        return lines
    if facts.is_wide:
        return ["shares = y.mean()", *lines]
    return [f"shares = np.bincount(y, minlength={len(facts.classes)}) / len(y)", *lines]


def answered(facts: TaskFacts) -> str:
    """Expression of the cells of a submission that hold `answer`."""
    match facts.encoding:
        case "label":
            return "answer" if facts.is_binary else "np.array(CLASSES)[answer]"
        case "label_list":
            return '[" ".join(np.array(CLASSES)[row == 1]) for row in answer]'
        case "ranked_list":
            return '[" ".join(np.array(CLASSES)[row]) for row in answer]'
        case "pairs":
            return "np.asarray(answer).ravel()"
        case _:
            return "answer"


def _as_said(facts: TaskFacts, scale: str) -> list[str]:
    if not facts.classes:
        return _numbers(facts, scale)
    if facts.encoding == "ranked_list":
        return [f"answer = np.argsort(-said, axis=1)[:, :{min(facts.places, len(facts.classes))}]"]
    floor = facts.metric in ("log_loss", "log_loss_columns")
    lines = ["answer = said"]
    if floor:
        lines = [
            "# Log loss never forgives a probability of 0",
            "answer = said.clip(1 / len(train), 1 - 1 / len(train))",
        ]
    if facts.encoding == "class_probabilities" and floor:
        lines.append("answer = answer / answer.sum(axis=1, keepdims=True)")
    if facts.encoding == "probability":
        lines[-1] = f"{lines[-1]}[:, 1]" if not floor else lines[-1].replace("said", "said[:, 1]")
    return lines


def _numbers(facts: TaskFacts, scale: str) -> list[str]:
    back = {"log1p": "np.expm1", "log": "np.exp"}.get(scale)
    if back:
        ends = "low, high" if facts.is_wide else "y.min(), y.max()"
        return [f"answer = {back}(np.clip(said, {ends}))  # back from logarithms, within what training shows"]
    if facts.metric == "poisson_deviance":
        return ["answer = said.clip(y.mean() / 10, y.max())  # a rate near 0 may cost a great deal"]
    return ["answer = said.clip(0)"] if facts.target == "count" else ["answer = said"]
