"""One stored rollout as texts under titles, for a terminal and for the page of a report."""

from collections.abc import Iterator

from sandmill.models.rollout import RolloutRecord, Step
from sandmill.report.text_tables import TextTable, to_text

_OF_ROLLOUT = {"release", "episode_id", "model", "ending", "chosen", "format_rate", "duration_s"}
_OF_GRADE = {"outcome", "score", "gap_closed", "medal", "position"}


def trajectory(record: RolloutRecord, width: int = 120) -> Iterator[tuple[str, str]]:
    """Yield facts, credit and steps of a rollout, all its messages, and the code and output that no message holds.

    Grades are among them, so agents must not see the result.
    """
    rollout, grade = record.rollout, record.rollout.grade
    reward = None if rollout.mask else rollout.reward
    facts = {
        **rollout.model_dump(include=_OF_ROLLOUT),
        **(grade.model_dump(include=_OF_GRADE) if grade else {}),
        **rollout.usage.model_dump(include={"prompt_tokens", "completion_tokens"}),
        "operator": record.operator,
        "failure": record.failure,
        "error": record.error,
    }
    lines = [f"{name.replace('_', ' '):<17} {_text(value)}" for name, value in facts.items() if value not in (None, "")]
    earned = f"reward {reward.total:.3f}" if reward else "masked, no reward"
    yield f"{rollout.task_id}, rollout {rollout.sample}: {earned}", "\n".join(lines)

    credit: list[tuple[object, ...]] = [
        (f"reward/{part}", value) for part, value in (reward.parts if reward else {}).items()
    ]
    credit += [(f"fact {one.fact}", one.value) for one in rollout.facts]
    steps = [
        (step.number, step.action, step.outcome, step.duration_s, len(step.checks), _note(step))
        for step in rollout.steps
    ]
    columns = ("step", "action", "outcome", "seconds", "checks", "feedback")
    for title, header, rows in (("credit", ("credit", "value"), credit), ("steps", columns, steps)):
        cells = tuple(tuple(map(_text, row)) for row in rows)
        if cells:
            yield title, to_text(TextTable("", header, cells), width)
    for number, message in enumerate(record.messages, start=1):
        yield f"message {number}, {message.role}", message.content
    said = "\n".join(message.content for message in record.messages)
    for step in rollout.steps:
        for name, text in (("code", step.code), ("standard output", step.stdout), ("standard error", step.stderr)):
            if text.strip() and text.strip() not in said:
                yield f"step {step.number}, {name}", text


def _note(step: Step) -> str:
    return " ".join((step.feedback.message if step.feedback else step.detail).split())


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
