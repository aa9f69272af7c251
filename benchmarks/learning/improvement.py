"""Self-improvement prompts: training on half improve prompts, against drafts only.

Run from the repository root: python -m benchmarks.learning.improvement --release REF
An improve prompt shows facts, an earlier valid script of the same training and its feedback as one word. Both arms
start from one policy that has read both kinds of prompts, and have the same number of executions. Tested as draft then
improve, with the better feedback deciding; the control is the best of 2 drafts. The unit of the sign test is the table.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.learning import claims
from benchmarks.learning.claim_bench import Bench, Example, points, scorer, teacher_examples
from benchmarks.learning.claims import Arm, ArmResult
from benchmarks.learning.scaffolds import by_call, numbered
from sandmill.learning.async_trainer import PolicyPrompt, train_async
from sandmill.learning.episode_executor import feedback_of
from sandmill.learning.improvement import FEEDBACK_WORDS, Earlier, ParentPool, feedback_word, improve_words
from sandmill.learning.learner import MicroLearner
from sandmill.learning.plots import difference_plot, learning_curves
from sandmill.learning.results import Scored
from sandmill.learning.scaffolds import ArmLabels, best_on_feedback, draft_then_improve
from sandmill.learning.statistics import mean_interval, paired_difference, sign_test

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy
    from sandmill.learning.task_sets import LearningTask
    from sandmill.models.rollout import Rollout

DRAFTS, HALF = "drafts only", "half improve"
SHARES = {DRAFTS: 0.0, HALF: 0.5}
"""Share of improve prompts in training."""
ONE, BEST, IMPROVE = "one draft", "best of 2 drafts", "draft then improve"
CONTRASTS = (
    ((HALF, IMPROVE), (DRAFTS, BEST)),
    ((HALF, IMPROVE), (HALF, BEST)),
    ((HALF, ONE), (DRAFTS, ONE)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both arms, and print the table."""
    request = claims.parse("improvement", __doc__, arguments, updates=40)
    found = claims.run_arms(request, arms(Bench(request)))
    calls = by_call(claims.rows_of(found))
    text = "\n\n".join([_table(calls), *_contrasts(calls)])
    curves = {
        name: [[(one["number"], one["gap"]) for one in result.curve] for result in seeds.values()]
        for name, seeds in found.items()
    }
    charts = {"curves": learning_curves(curves, title="Gap of sampled scripts", value="gap", per="updates")}
    arm, other = CONTRASTS[0]
    if {arm, other} <= calls.keys():
        title = f"{': '.join(arm)} against {': '.join(other)}"
        charts["tables"] = difference_plot(calls[arm], calls[other], title=title)
    claims.publish(request, found, text, charts)


def arms(bench: Bench) -> dict[str, Arm]:
    """Return both arms by name."""
    return {name: partial(_train, bench, name) for name in SHARES}


def examples(bench: Bench, seed: int) -> list[Example]:
    """Return drafts of the teacher, and as many improve prompts with two of its scripts of the same task."""
    generator = np.random.default_rng([seed, len(FEEDBACK_WORDS)])
    drafts = teacher_examples(bench)
    by_words: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for words, script in drafts:
        by_words.setdefault(words, []).append(script)
    improved = []
    for words, script in drafts:
        others = by_words[words]
        shown = others[int(generator.integers(len(others)))]
        texts = tuple(bench.language.by_name[name].text for name in shown[1:-1])
        feedback = FEEDBACK_WORDS[int(generator.integers(len(FEEDBACK_WORDS)))]
        improved.append((improve_words(words, Earlier(texts, feedback)), script))
    return [*drafts, *improved]


def _train(bench: Bench, name: str, seed: int) -> ArmResult:
    policy = bench.start(seed, "improvement", lambda: examples(bench, seed))
    learner, pool = MicroLearner(policy), ParentPool()

    def draw(number: int, generator: np.random.Generator) -> list[PolicyPrompt]:
        tasks = [bench.train[place] for place in generator.permutation(len(bench.train))[: bench.groups]]
        return [pool.prompt(task.id, task.facts, SHARES[name], generator) for task in tasks]

    def listen(pair: tuple[str, str], rollout: "Rollout") -> None:
        pool.add(pair[0], learner.fragments_of(pair[1]), feedback_of(rollout))

    updates = train_async(learner, draw, scorer(bench.executor, listen=listen), bench.settings(seed))
    return ArmResult(_call_rows(bench, name, policy, seed), points(updates))


def _call_rows(bench: Bench, arm: str, policy: "MicroPolicy", seed: int) -> list[Scored]:
    learner, rows = MicroLearner(policy), list[Scored]()
    for call in range(bench.calls):
        number = bench.calls * seed + call

        def write(tasks: "Sequence[LearningTask]", n: int, *, key: int = number) -> list[list[str]]:
            return learner.sample([task.facts for task in tasks], n=n, temperature=1.0, seed=key)

        def rewrite(
            tasks: "Sequence[LearningTask]",
            drafts: Sequence[str],
            rollouts: "Sequence[Rollout]",
            *,
            key: int = number,
        ) -> list[str]:
            prompts = [
                _second_prompt(learner, task, draft, rollout)
                for task, draft, rollout in zip(tasks, drafts, rollouts, strict=True)
            ]
            return [group[0] for group in learner.sample(prompts, n=1, temperature=1.0, seed=key + 1_000_000)]

        for name, scripts in ((ONE, 1), (BEST, 2)):
            names = ArmLabels(f"{arm}: {name}", seed)
            rows += numbered(best_on_feedback(write, bench.held_out, bench.executor, names, scripts=scripts), call)
        names = ArmLabels(f"{arm}: {IMPROVE}", seed)
        rows += numbered(draft_then_improve(write, rewrite, bench.held_out, bench.executor, names), call)
    return rows


def _second_prompt(learner: MicroLearner, task: "LearningTask", draft: str, rollout: "Rollout") -> tuple[str, ...]:
    """Return an improve prompt, or a draft prompt if the draft left no valid submission."""
    if (word := feedback_word(feedback_of(rollout))) is None:
        return tuple(task.facts)
    return improve_words(task.facts, Earlier(tuple(learner.fragments_of(draft)), word))


def _table(calls: Mapping[tuple[str, str], list[Scored]]) -> str:
    lines = [(arm, call, claims.number(mean_interval(rows))) for (arm, call), rows in sorted(calls.items())]
    return claims.markdown(("trained on", "called as", "gap"), lines)


def _contrasts(calls: Mapping[tuple[str, str], list[Scored]]) -> list[str]:
    lines = []
    for first, second in CONTRASTS:
        if not {first, second} <= calls.keys():
            continue
        arm, other = calls[first], calls[second]
        signs = sign_test(arm, other)
        better = f"{signs.wins} better, {signs.losses} worse, {signs.ties} equal (p = {signs.p_value:.3f})"
        title = f"{', '.join(first)} against {', '.join(second)}"
        lines.append((title, paired_difference(arm, other), claims.gain(arm, other), better))
    header = ("contrast", "difference in gap", "relative", "tables")
    return [claims.markdown(header, lines)] if lines else []


if __name__ == "__main__":
    claims.run(main)
