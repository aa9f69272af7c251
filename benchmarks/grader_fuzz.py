"""Grades of mutated submissions, over every encoding and metric: none may raise, none may beat the truth.

Run from the repository root: OMP_NUM_THREADS=1 python -m benchmarks.grader_fuzz --count 120000
"""

import argparse
import logging
import time
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import get_args

from sandmill.score.support import ANSWER_FORMS
from tests.many_rows import FORMS, make_many
from tests.metric_samples import Pair
from tests.submission_mutants import Graded, Verdict, judge, make_graded, mutate

_SHOWN = 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Grade mutants and print what became of them; ends with exit code 1 if one was graded as none may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=120_000, help="mutated submissions over all pairs")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)  # what the grader logs is counted as a fault below
    began, tallies, faults = time.perf_counter(), Counter[tuple[str, str]](), list[str]()
    tasks = _tasks(given.seed)
    each = -(-given.count // len(tasks))
    for pair, encoding, task in tasks:
        for number in range(each):
            content = mutate(task.honest, Random(f"{given.seed} {pair[0]} {pair[1]} {number}"))
            verdict, detail = judge(task, content)
            tallies[encoding, verdict] += 1
            if detail:
                faults.append(f"{verdict}, {pair[0]} {pair[1]}, mutant {number}: {detail}")
    seconds = time.perf_counter() - began
    print(
        f"{tallies.total():,} mutated submissions of {len(tasks)} pairs of target, metric and form, seed {given.seed}:"
    )
    print(f"{tallies.total() / seconds:,.0f} a second.\n")
    print(_table(tallies))
    print("\n".join(faults[:_SHOWN]))
    raise SystemExit(1 if faults else 0)


def _tasks(seed: int) -> list[tuple[Pair, str, Graded]]:
    """Return a task of each pair of target and metric, and of each form of many rows or masks, with its form."""
    usual = [(pair, encoding, make_graded(pair, seed)) for pair, encoding in sorted(ANSWER_FORMS.items())]
    return usual + [(pair, form, make_many(form, seed)) for form, pair in FORMS.items()]


def _table(tallies: Counter[tuple[str, str]]) -> str:
    lines = ["| encoding | mutated submissions | valid | invalid | exceptions | broken reports |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    encodings = sorted({encoding for encoding, _ in tallies})
    for name, chosen in [*((f"`{encoding}`", [encoding]) for encoding in encodings), ("all", encodings)]:
        counts = [sum(tallies[encoding, verdict] for encoding in chosen) for verdict in get_args(Verdict)]
        lines.append(f"| {name} | " + " | ".join(f"{count:,}" for count in [sum(counts), *counts]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
