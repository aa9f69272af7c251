"""Prompts as operators: draft a solution, improve one, debug a script that failed, or combine two.

Prompts show what an agent saw itself: its scripts, their output and the answers of `Feedback`. They never show grades,
rewards or checks, so nothing of the final part.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from pydantic import Field

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Action, Operator, Rollout, Step
from sandmill.play.observation import escape_marks, estimate_tokens, fence, shorten_middle, shorten_output
from sandmill.play.prompt import ChatMessage
from sandmill.play.task import EpisodeTask
from sandmill.rng import Streams

MOST_DESCRIPTION_TOKENS = 6_000
"""Longest description with its list of files, in estimated tokens, as in SandMLE."""
MOST_PROMPT_TOKENS = 8_000
"""Longest first message in estimated tokens. SandMLE's trainer cuts prompts at 8,192 tokens."""

_CODE_SHARE = 0.6
"""Share of the tokens of an earlier solution that its code may use; its output gets the rest."""
_HEADING_TOKENS = 120
"""Tokens kept for the headings of one earlier solution."""
_FAILURES = frozenset(
    {Outcome.RUNTIME_ERROR, Outcome.TIMEOUT, Outcome.OOM, Outcome.NO_SUBMISSION, Outcome.INVALID_SUBMISSION}
)
_PARENTS = {Operator.DRAFT: 0, Operator.IMPROVE: 1, Operator.DEBUG: 1, Operator.CROSSOVER: 2}
_ORDERS = {
    Operator.IMPROVE: "Write a better solution than the one below. Keep what works, and change what limits its score.",
    Operator.DEBUG: "The script below failed. Find the cause, and write a script that works.",
    Operator.CROSSOVER: "Combine the best ideas of the two solutions below into one better solution.",
}


class OperatorMix(Frozen):
    """Weights with which operators are drawn, among those whose parents exist. The default is that of 2509.01684."""

    draft: float = Field(default=0.5, ge=0)
    improve: float = Field(default=0.5, ge=0)
    debug: float = Field(default=0.0, ge=0)
    crossover: float = Field(default=0.0, ge=0)


@dataclass(frozen=True)
class EarlierRun:
    """An earlier run of a script, as far as the agent saw it."""

    code: str
    outcome: Outcome
    duration_s: float
    output: str
    """Standard output and error, detail and format problems."""
    feedback: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether it left a valid submission."""
        return self.outcome is Outcome.OK


@dataclass(frozen=True)
class OperatorChoice:
    """An operator with its parents."""

    operator: Operator
    parents: tuple[EarlierRun, ...] = ()


def attempts_of(steps: Iterable[Step]) -> list[EarlierRun]:
    """Return the runs among the steps of one episode, each with the feedback that the agent got on it."""
    found: list[EarlierRun] = []
    for step in steps:
        if step.action is Action.RUN and step.outcome is not None and not step.mask:
            texts = map(escape_marks, (step.detail, *step.problems, step.stdout, step.stderr))
            output = "\n".join(shorten_output(text) for text in texts if text.strip())
            found.append(EarlierRun(step.code, step.outcome, step.duration_s, output))
        elif step.action is Action.SUBMIT and step.feedback is not None and found:
            found[-1] = replace(found[-1], feedback=step.feedback.message)
    return found


def choose_operator(
    task: EpisodeTask,
    *,
    group: int = 0,
    seed: int = 0,
    split: str | None = None,
    stored: Sequence[Rollout] = (),
    own: Sequence[Step] = (),
    mix: OperatorMix | None = None,
    allow_held_out: bool = False,
) -> OperatorChoice:
    """Draw an operator and its parents for a group of rollouts. Equal arguments give the same choice.

    The draw depends on seed, task and group alone, not on the order of rollouts. So all rollouts of a group get the
    same prompt, as GRPO needs it.

    Args:
        task: the task of the group.
        group: number of the group among those of the task.
        seed: another seed gives another draw.
        split: split of the task. Of tasks outside of `train`, and of tasks whose split is not known, stored rollouts
            are not used.
        stored: finished rollouts. Those of other tasks and masked ones are left out.
        own: steps of the agent's own episode, which may be used in every split.
        mix: weights of the operators.
        allow_held_out: use stored rollouts of this episode's task in every split.

    Raises:
        InputError: if no operator of the mix has its parents.
    """
    usable = stored if split == "train" or allow_held_out else ()
    fitting = [one for one in usable if one.task_id == task.id and not one.mask]
    ordered = sorted(fitting, key=lambda one: (one.sample, one.model, [step.code for step in one.steps]))
    attempts = [attempt for one in ordered for attempt in attempts_of(one.steps)] + attempts_of(own)
    # Equal scripts count once, with their last run.
    valid = list({one.code: one for one in attempts if one.is_valid and one.code.strip()}.values())
    failed = list({one.code: one for one in attempts if one.outcome in _FAILURES and one.code.strip()}.values())
    pools: dict[Operator, list[EarlierRun]] = {
        Operator.DRAFT: [],
        Operator.IMPROVE: valid,
        Operator.DEBUG: failed,
        Operator.CROSSOVER: valid,
    }
    weights = (mix or OperatorMix()).model_dump()
    possible = [one for one in Operator if weights[one] > 0 and len(pools[one]) >= _PARENTS[one]]
    if not possible:
        asked = ", ".join(name for name, weight in weights.items() if weight > 0) or "none"
        hint = "Give draft a weight, or rollouts of this task."
        raise InputError(f"task {task.id}", [Problem("operators", asked, "one whose parents exist", hint)], "")
    key = sha256(f"sandmill operators {seed}".encode()).digest()
    generator = Streams(key, task.id).generator(f"group {group}")
    total = sum(weights[one] for one in possible)
    operator = possible[int(generator.choice(len(possible), p=[weights[one] / total for one in possible]))]
    pool = pools[operator]
    places = generator.choice(len(pool), size=_PARENTS[operator], replace=False)
    return OperatorChoice(operator, tuple(pool[int(place)] for place in places))


def operator_prompt(
    task: EpisodeTask, choice: OperatorChoice, form: Literal["text", "chat"] = "text", **numbers: Any
) -> Any:
    """Return the first message of an episode.

    Args:
        task: the task.
        choice: operator and parents.
        form: `text`, or `chat` for a list of one message.
        numbers: `timeout`, `limits` and `submissions` of `EpisodeTask.prompt`.

    Raises:
        InputError: if the description is too long, or a number is out of range.
    """
    check_descriptions({task.id: task.description})
    text = add_parents(task.id, task.prompt("text", **numbers), choice)
    return text if form == "text" else [ChatMessage(role="user", content=text)]


def check_descriptions(descriptions: Mapping[str, str]) -> None:
    """Refuse descriptions, given by task, with more than 6,000 estimated tokens. An `InputError` names all of them."""
    problems = [
        problem
        for task_id, text in descriptions.items()
        if (problem := _length_problem(f"description of task {task_id}", text, MOST_DESCRIPTION_TOKENS))
    ]
    if problems:
        raise InputError("prompts", problems, "Nothing was asked.")


def _length_problem(where: str, text: str, most: int) -> Problem | None:
    if (tokens := estimate_tokens(text)) <= most:
        return None
    hint = "The estimate is one token a digit and one for each 3 other bytes. Leave this task out of the selection."
    return Problem(where, f"about {tokens} tokens", f"at most {most}", hint)


def add_parents(task_id: str, prompt: str, choice: OperatorChoice) -> str:
    """Add the parents of an operator to the prompt of a task. Long scripts and outputs are shortened in their middle.

    Raises `InputError` if the prompt alone is too long; names the task.
    """
    if problem := _length_problem(f"prompt of task {task_id}", prompt, MOST_PROMPT_TOKENS):
        raise InputError("prompts", [problem], "Nothing was asked.")
    if not choice.parents:
        return prompt
    order = f"## What to do\n\n{_ORDERS[choice.operator]}"
    left = MOST_PROMPT_TOKENS - estimate_tokens(prompt) - estimate_tokens(order)
    each = left // len(choice.parents) - _HEADING_TOKENS
    sections = [prompt.rstrip("\n"), order]
    for number, parent in enumerate(choice.parents, start=1):
        name = "Earlier solution" if len(choice.parents) == 1 else f"Earlier solution {number}"
        sections.append(_describe(name, parent, max(0, each)))
    return "\n\n".join(sections) + "\n"


def _describe(name: str, parent: EarlierRun, most_tokens: int) -> str:
    feedback = shorten_middle(parent.feedback, most_tokens // 4)
    left = most_tokens - estimate_tokens(feedback)
    code = shorten_middle(parent.code.strip("\n"), int(left * _CODE_SHARE))
    output = shorten_middle(parent.output, left - estimate_tokens(code))
    ended = "left a valid submission" if parent.is_valid else f"ended with {parent.outcome}"
    lines = [f"## {name}", fence(code, "python"), f"This script ran for {parent.duration_s:.1f} s and {ended}."]
    if output.strip():
        lines += ["Its output:", fence(output)]
    if feedback:
        lines.append(f"Feedback on its submission: {feedback}")
    return "\n\n".join(lines)
