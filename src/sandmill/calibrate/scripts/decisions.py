"""What models say turned into the answer that the metric rewards, as source."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.package import TaskFacts

_AT_HALF = ("accuracy", "top1_error", "f1_micro")
_SETS = ("f1_micro", "f1_macro")

_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "f1": "2 * hits / (named + true)",
        "f1_macro": "hits / (named + true) + (rows - named - true + hits) / (2 * rows - named - true)",
        "cohen_kappa": "(rows * hits - named * true) / (named * (rows - true) + true * (rows - named))",
        "mcc": "(rows * hits - named * true) / np.sqrt(named * (rows - named) + 1e-9)",
    }
)
"""What naming the likeliest rows should score by a metric of two classes, up to a constant factor."""


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
    return ("as said",)


def decision_lines(facts: TaskFacts, scale: str, decision: str) -> list[str]:
    """Source that turns `said`, the average of the models, into `answer`, as numbers or class codes.

    Models of numbers were fitted on a scale: raw, log1p or log.
    """
    block = _decision(facts, scale, decision)
    if not any("shares" in line for line in block):
        return block
    if facts.is_wide:
        return ["shares = y.mean()", *block]
    return [f"shares = np.bincount(y, minlength={len(facts.classes)}) / len(y)", *block]


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


def _decision(facts: TaskFacts, scale: str, decision: str) -> list[str]:
    match decision:
        case "likeliest":
            return ["answer = said.argmax(axis=1)"]
        case "by share":
            return [
                "# Every class counts alike, so rare ones are named sooner",
                "answer = (said / shares).argmax(axis=1)",
            ]
        case "grades by rank":
            return [
                "# Kappa rewards the full range: rank rows by expected grade, name grades as in training",
                "grade = pd.Series(said @ np.arange(len(CLASSES)))",
                "answer = np.searchsorted(shares.cumsum()[:-1], grade.rank(pct=True))",
            ]
        case "expected grade":
            return [
                "# Weighted kappa punishes squared distances: the expected grade, stretched to the spread of training",
                "grade = said @ np.arange(len(CLASSES))",
                "grade = grade.mean() + (grade - grade.mean()) * y.std() / grade.std()",
                "answer = grade.round().clip(0, len(CLASSES) - 1).astype(int)",
            ]
        case "by share of rows":
            return [
                "# The metric wants the class named about as often as it occurs",
                "answer = (said[:, 1] >= np.quantile(said[:, 1], 1 - shares[1])).astype(int)",
            ]
        case "best expected score":
            return [
                "# Name the likeliest rows: as many as should score best if the probabilities hold",
                "chances = np.sort(said[:, 1])[::-1]",
                "hits, named = chances.cumsum(), np.arange(1, len(chances) + 1)",
                "true, rows = chances.sum(), len(chances)",
                f"expected = {_EXPECTED.get(facts.metric, _EXPECTED['f1'])}",
                "answer = (said[:, 1] >= chances[expected.argmax()]).astype(int)",
            ]
        case "by rate":
            return [
                "# The metric wants classes named as often as they occur: move a bias of each towards its share",
                "logs, bias = np.log(said.clip(1e-9)), np.zeros(len(CLASSES))",
                "for step in range(20):",
                "    named = np.bincount((logs + bias).argmax(axis=1), minlength=len(CLASSES)) / len(said)",
                "    bias += (np.log(shares) - np.log(named.clip(1e-3))) / (2 + step)",
                "answer = (logs + bias).argmax(axis=1)",
            ]
        case "leaning":
            return [
                "# Rare classes count more than their rows: lean towards them",
                "answer = (said / shares**0.5).argmax(axis=1)",
            ]
        case "best sets":
            return [
                "# As many labels a row as make its expected F1 largest, the likeliest first",
                "order = np.argsort(-said, axis=1)",
                "hits = np.take_along_axis(said, order, axis=1).cumsum(axis=1)",
                "expected = hits / (np.arange(1, said.shape[1] + 1) + said.sum(axis=1, keepdims=True))",
                "answer = (order.argsort(axis=1) <= expected.argmax(axis=1)[:, None]).astype(int)",
            ]
        case "labels by share":
            return [
                "# Name each label as often as it occurs in training",
                "cuts = [np.quantile(column, 1 - share) for column, share in zip(said.T, shares)]",
                "answer = (said >= cuts).astype(int)",
            ]
        case "likely labels":
            return ["answer = (said > 0.5).astype(int)"]
        case _:
            return _as_said(facts, scale)


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
