"""The MLOps engineer: chooses metric, submission form and split from the supported ones."""

from pydantic import Field

from sandmill.design.conditions import WITH_STRATA, possible_splits
from sandmill.design.llm.conversation import Conversation, describe_structure, fill
from sandmill.design.llm.strategist import Idea
from sandmill.models.base import Frozen
from sandmill.models.plan import Slot
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, Structure
from sandmill.scoring.support import ANSWER_FORMS, SUPPORTED_TASKS


class Evaluation(Frozen):
    """How a task is scored and split."""

    metric: MetricName
    submission: str
    split: SplitKind
    reason: str = Field(max_length=400)


async def choose_evaluation(conversation: Conversation, slot: Slot, idea: Idea) -> Evaluation:
    """Ask how to score and split the task.

    Raises:
        GivenUp: if no answer is supported.
    """
    structure = slot.seed.structure
    forms = "\n".join(
        f"- {metric}: {ANSWER_FORMS[structure.target, metric]}" for metric in SUPPORTED_TASKS[structure.target]
    )
    values = {
        "structure": describe_structure(structure),
        "title": idea.title,
        "row": idea.row,
        "target": f"{idea.target_name}: {idea.target_meaning}",
        "metrics": forms,
        "splits": ", ".join(splits_for(structure)),
    }
    return await conversation.settle(
        "engineer", fill("engineer_question", values), Evaluation, lambda e: _judge(e, structure)
    )


def splits_for(structure: Structure) -> tuple[SplitKind, ...]:
    """Return the splits that a structure allows: the declared one, or every suitable one if none is declared."""
    if structure.split is not None or PathologyKind.GROUPS in structure.pathologies:
        return possible_splits(structure, structure.pathologies)
    strata = (SplitKind.STRATIFIED,) if structure.target in WITH_STRATA else ()
    return (SplitKind.RANDOM, SplitKind.TEMPORAL, SplitKind.GROUPED, *strata)


def _judge(answer: Evaluation, structure: Structure) -> list[str]:
    problems, metrics = [], SUPPORTED_TASKS[structure.target]
    if answer.metric not in metrics:
        problems.append(f"metric: {answer.metric} cannot be used for {structure.target}; one of {', '.join(metrics)}")
    elif answer.submission != ANSWER_FORMS[structure.target, answer.metric]:
        wanted = ANSWER_FORMS[structure.target, answer.metric]
        problems.append(f"submission: {answer.submission} is not what {answer.metric} scores; it is {wanted}")
    if answer.split not in splits_for(structure):
        problems.append(f"split: {answer.split} does not fit; one of {', '.join(splits_for(structure))}")
    return problems
