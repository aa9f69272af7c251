"""Evaluation on held-out tables, with facts removed or exchanged, and on real tables, with a bootstrap over tables."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sandmill_learn.lm.folder import SAMPLES, Record
from sandmill_learn.lm.generate import Sampler
from sandmill_learn.lm.grading import Table
from sandmill_learn.lm.scripts import Pool
from sandmill_learn.lm.sft import Measured, mean_of, measure_samples
from sandmill_learn.lm.weights import Words

FIGURES = ("gap", "ladder", "bronze", "silver", "gold", "valid", "caught", "tried", "right", "distinct")
_RESAMPLES, _PROMPTS = 2_000, 80
"""Bootstraps, and most prompts that are answered at once."""
ROWS = "evaluation.jsonl"


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """Return the mean and a 95 % interval by a bootstrap over tables."""
    cells = np.asarray(values, dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(cells), (_RESAMPLES, len(cells)))
    low, high = np.percentile(cells[draws].mean(axis=1), [2.5, 97.5])
    return float(cells.mean()), float(low), float(high)


def _exchanged(table: Table) -> Table:
    """Return a table whose right readings are those of the exchanged text."""
    return replace(table, facts=[{**fact, "lines": fact.get("exchanged", [])} for fact in table.facts])


class Evaluation:
    """Figures of several models on the same suites."""

    def __init__(self, tables: Mapping[str, Table], record: Record) -> None:
        """Choose the tables of each suite."""
        held = [table for table in tables.values() if table.group == "held_out"]
        hinted = [table for table in held if table.prompts]
        real = [table for table in tables.values() if table.group == "real"]
        self._record = record
        self._suites: list[tuple[str, list[Table], int, float, str]] = [
            ("held-out, T = 1", held, 8, 1.0, ""),
            ("held-out, greedy", held, 1, 0.0, ""),
            ("facts removed, T = 1", hinted, 4, 1.0, "removed"),
            ("facts exchanged, T = 1", hinted, 4, 1.0, "exchanged"),
            ("real, T = 1", real, 4, 1.0, ""),
            ("real, greedy", real, 1, 0.0, ""),
        ]
        """Name, tables, samples, temperature and form of the prompt, the most important first."""
        self._tables = tables
        self.rows: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def measure(
        self,
        models: Sequence[str],
        sampler_of: Callable[[str, int, int], Sampler],
        words: Words,
        pool: Pool,
        seconds: float,
    ) -> None:
        """Sample and run the suites that fit into the time, each with all models.

        Args:
            models: names.
            sampler_of: loads a model and returns the sampler for a number of prompts, and of answers to each.
            words: the tokenizer.
            pool: runs the scripts.
            seconds: of all. The first suite runs in any case.
        """
        started, pending = time.monotonic(), list[tuple[str, str, Measured]]()
        for number, (name, tables, samples, temperature, form) in enumerate(self._suites):
            if number and time.monotonic() - started > seconds:
                self._record.say(f"no time for {name}")
                continue
            texts = {table.name: table.prompts[form] for table in tables} if form else None
            asked = [_exchanged(table) for table in tables] if form == "exchanged" else tables
            for model in models if tables else ():
                sampler = sampler_of(model, min(len(tables), _PROMPTS), samples)
                made = measure_samples(sampler, words, pool, asked, samples, temperature, texts)
                pending.append((model, name, made))
                while len(pending) > 1:
                    self._take(*pending.pop(0))
        while pending:
            self._take(*pending.pop(0))

    def _take(self, model: str, suite: str, measured: Measured) -> None:
        rows = self.rows[model, suite] = measured.wait()
        for row in rows:
            self._record.add("evaluate", ROWS, model=model, suite=suite, **row)
        if "greedy" in suite:
            for row, scripts in zip(rows, measured.scripts, strict=True):
                self._record.add("evaluate", SAMPLES, model=model, suite=suite, script=scripts[0], **row)
        figures = {name: mean_of(rows, name) for name in FIGURES}
        self._record.add("evaluate", model=model, suite=suite, **figures, problems=measured.problems())
        shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        self._record.say(f"{model}, {suite}: {shown}")
        self._record.write("result.md", self.markdown())

    def markdown(self) -> str:
        """Return all figures as tables of markdown."""
        lines = [f"| suite | model | tables | {' | '.join(FIGURES)} |", f"|---|---|{'---:|' * (1 + len(FIGURES))}"]
        for suite, *_ in self._suites:
            for (model, name), rows in self.rows.items():
                if name == suite:
                    lines.append(f"| {suite} | {model} | {len(rows)} | {' | '.join(self._cells(rows))} |")
            lines += self._fixed(suite)
        lines += ["", "Hinted tables alone:", "", *lines[:2]]
        for (model, suite), rows in self.rows.items():
            some = [row for row in rows if row["hinted"]]
            if some and suite.startswith("held-out"):
                lines.append(f"| {suite} | {model} | {len(some)} | {' | '.join(self._cells(some))} |")
        return "\n".join([*lines, "", *self._differences()]) + "\n"

    def _cells(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        cells = []
        for name in FIGURES:
            values = [row[name] for row in rows if row[name] is not None]
            if not values:
                cells.append("")
            elif name in ("gap", "ladder", "gold", "caught"):
                mean, low, high = interval(values)
                cells.append(f"{mean:.3f} [{low:.3f}, {high:.3f}]")
            else:
                cells.append(f"{float(np.mean(values)):.3f}")
        return cells

    def _fixed(self, suite: str) -> list[str]:
        """Write fixed scripts beside the greedy suites."""
        group = {"held-out, greedy": "held_out", "real, greedy": "real"}.get(suite)
        some = [table for table in self._tables.values() if table.group == group and table.fixed]
        names = sorted({name for table in some for name in table.fixed})
        found = []
        for name in names:
            values = [table.fixed[name] for table in some if name in table.fixed]
            mean, low, high = interval(values)
            found.append(f"| {suite} | script {name} | {len(values)} | {mean:.3f} [{low:.3f}, {high:.3f}] |" + " |" * 9)
        return found

    def _differences(self) -> list[str]:
        """Write paired differences of each model against the first."""
        models = list(dict.fromkeys(model for model, _ in self.rows))
        lines = []
        for model in models[1:]:
            for suite, *_ in self._suites:
                pair = [self.rows.get((one, suite)) for one in (models[0], model)]
                if pair[0] is None or pair[1] is None:
                    continue
                for name in ("gap", "ladder", "caught"):
                    both = [
                        (one[name], two[name])
                        for one, two in zip(pair[0], pair[1], strict=True)
                        if one[name] is not None and two[name] is not None
                    ]
                    if both:
                        mean, low, high = interval([two - one for one, two in both])
                        won, lost = (sum(sign * (two - one) > 1e-9 for one, two in both) for sign in (1, -1))
                        lines.append(
                            f"- {suite}, {name}: {model} - {models[0]} = {mean:+.3f} [{low:+.3f}, {high:+.3f}], "
                            f"{won} won, {lost} lost"
                        )
        return lines
