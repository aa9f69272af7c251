"""What a step costs beyond its computing, all kinds interleaved so that they meet the same load.

`python -m benchmarks.step_latency --runs 30`
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from sandmill.models.calibration import BoardEntry, Calibration, Thresholds, Tier
from sandmill.models.package import TaskFacts
from sandmill.models.reports import GradeReport, Outcome
from sandmill.models.structure import MetricName, TargetKind
from sandmill.sandbox import Sandbox
from sandmill.sandbox.agent_env import guest_environment
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.submission import Answers

TRAIN_ROWS, TEST_ROWS = 150, 6000
MODELS = {
    "logistic regression": ("linear_model", "LogisticRegression(max_iter=1000)"),
    "gradient boosting": ("ensemble", "HistGradientBoostingClassifier(max_iter=50, random_state=0)"),
    "random forest": ("ensemble", "RandomForestClassifier(100, random_state=0)"),
}
SCRIPT = """
import pandas as pd
from sklearn.{module} import {name}
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
columns = [column for column in test if column != "id"]
model = {model}.fit(train[columns], train.label)
test["label"] = model.predict_proba(test[columns])[:, 1]
test[["id", "label"]].to_csv("submission.csv", index=False)
"""
NETWORK = """
import pandas as pd, torch
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
columns = [column for column in test if column != "id"]
rows, unseen = (torch.tensor(table[columns].to_numpy(), dtype=torch.float32) for table in (train, test))
labels = torch.tensor(train.label.to_numpy(), dtype=torch.float32)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(len(columns), 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
steps = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    steps.zero_grad()
    torch.nn.functional.binary_cross_entropy_with_logits(model(rows)[:, 0], labels).backward()
    steps.step()
with torch.no_grad():
    test["label"] = torch.sigmoid(model(unseen)[:, 0]).numpy()
test[["id", "label"]].to_csv("submission.csv", index=False)
"""
"""Runs where the agent environment has torch: `sandmill agent-env create --with-torch`."""
EMPTY = 'open("submission.csv", "w").write("x")'
COMPUTER = """
import sys, time
import contextlib, pandas, sklearn.ensemble, sklearn.linear_model
with contextlib.suppress(ImportError):
    import torch
for line in sys.stdin:
    code = eval(line)
    started = time.perf_counter()
    exec(code, {"__name__": "__main__"})
    print(time.perf_counter() - started, flush=True)
"""
EVALUATOR = """
import json, sys
import pandas as pd
from sklearn.metrics import roc_auc_score
answers, submission = pd.read_csv("answer.csv"), pd.read_csv(sys.argv[1])
both = answers.merge(submission, on="id", suffixes=("", "_of_submission"))
print(json.dumps({"score": roc_auc_score(both.label, both.label_of_submission), "is_lower_better": False}))
"""


def main() -> None:
    """Print a table for steps, one for steps at a time, one for grades."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help="of each kind and model")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        public = _write_public(folder)
        with Sandbox("warm") as warm:
            _print_steps(_measure_steps(runs, warm, folder, public))
            _print_throughput(runs, warm, public)
        _print_grades(runs, warm, folder)


Seconds = dict[str, list[float]]


def _measure_steps(runs: int, warm: Sandbox, folder: Path, public: Path) -> dict[str, Seconds]:
    """Seconds by model and kind; the first round is not counted."""
    python = str(warm.agent_env.python)
    found: dict[str, Seconds] = {}
    scripts = {name: _code(name) for name in MODELS}
    if subprocess.run([python, "-c", "import torch"], env=guest_environment(), capture_output=True).returncode == 0:
        scripts["network of torch"] = NETWORK
    with subprocess.Popen(
        [python, "-c", COMPUTER],
        cwd=folder,
        env=guest_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as computer:
        for turn in range(runs + 1):
            for model, code in scripts.items():
                kinds: dict[str, Callable[[], float]] = {
                    "cold python": lambda code=code: _timed(lambda: _run_cold(python, folder, code)),  # type: ignore[misc]
                    "warm": lambda code=code: _timed(lambda: _step(warm, code, public)),  # type: ignore[misc]
                    "compute": lambda code=code: _compute(computer, code),  # type: ignore[misc]
                }
                for kind, measure in kinds.items():
                    seconds = measure()
                    if turn:
                        found.setdefault(model, {}).setdefault(kind, []).append(seconds)
            found.setdefault("nothing to do", {}).setdefault("warm", []).append(
                _timed(lambda: _step(warm, EMPTY, public))
            )
    return found


def _code(model: str) -> str:
    module, call = MODELS[model]
    return SCRIPT.format(module=module, name=call.partition("(")[0], model=call)


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _step(box: Sandbox, code: str, public: Path) -> None:
    result = box.run(code, public=public, timeout=60)
    if result.outcome is not Outcome.OK:
        raise RuntimeError(f"{result.outcome}: {result.stderr}")


def _run_cold(python: str, folder: Path, code: str) -> None:
    (folder / "solution.py").write_text(code)
    subprocess.run([python, "solution.py"], cwd=folder, env=guest_environment(), check=True)


def _compute(computer: "subprocess.Popen[str]", code: str) -> float:
    assert computer.stdin
    assert computer.stdout
    computer.stdin.write(f"{code!r}\n")
    computer.stdin.flush()
    return float(computer.stdout.readline())


def _print_steps(found: dict[str, Seconds]) -> None:
    print(
        f"{TRAIN_ROWS} training rows, {TEST_ROWS} test rows. Overhead: above the compute, medians of differences.\n\n"
        "| model | kind | median ms | p95 ms | cold / this | overhead ms |\n|---|---|---:|---:|---:|---:|"
    )
    for model, kinds in found.items():
        for kind, seconds in kinds.items():
            ratio = f"{median(kinds['cold python']) / median(seconds):.1f}" if "cold python" in kinds else ""
            over = ""
            if "compute" in kinds and kind != "compute":
                over = _ms(median(mine - bare for mine, bare in zip(seconds, kinds["compute"], strict=True)))
            print(f"| {model} | {kind} | {_ms(median(seconds))} | {_ms(_p95(seconds))} | {ratio} | {over} |")


def _print_throughput(runs: int, warm: Sandbox, public: Path) -> None:
    print("\n| steps at a time | logistic regressions a second |\n|---:|---:|")
    for at_once in (1, 2, 8):
        with ThreadPoolExecutor(at_once) as pool:
            started = time.perf_counter()
            list(pool.map(lambda _: _step(warm, _code("logistic regression"), public), range(4 * runs)))
            print(f"| {at_once} | {4 * runs / (time.perf_counter() - started):.1f} |")


def _print_grades(runs: int, box: Sandbox, folder: Path) -> None:
    """Grade the same submission in the resident grader and in a process that starts for it."""
    ids = tuple(f"{number:08x}" for number in range(TEST_ROWS))
    truth = np.arange(TEST_ROWS) * 7919 % 2
    submission = "id,label\n" + "".join(f"{i},{(n * 31 % 100) / 100}\n" for n, i in enumerate(ids))
    answers = Answers(ids, truth, np.arange(TEST_ROWS) % 3 > 0)
    (folder / "answer.csv").write_text("id,label\n" + "".join(f"{i},{y}\n" for i, y in zip(ids, truth, strict=True)))
    (folder / "graded.csv").write_text(submission)
    (folder / "evaluator.py").write_text(EVALUATOR)
    command = [str(box.agent_env.python), "evaluator.py", "graded.csv"]
    kinds: dict[str, Callable[[], object]] = {
        "resident": lambda: _grade(submission.encode(), answers),
        "cold evaluator": lambda: json.loads(subprocess.check_output(command, cwd=folder, env=guest_environment())),
    }
    seconds: Seconds = {kind: [] for kind in kinds}
    for _ in range(runs + 1):
        for kind, call in kinds.items():
            seconds[kind].append(_timed(call))
    print(f"\nROC AUC over {TEST_ROWS} rows.\n\n| grade | first ms | then median ms | p95 ms |\n|---|---:|---:|---:|")
    for kind, (first, *taken) in seconds.items():
        print(f"| {kind} | {_ms(first)} | {_ms(median(taken))} | {_ms(_p95(taken))} |")


def _grade(submission: bytes, answers: Answers) -> GradeReport:
    facts = TaskFacts(
        id_column="id",
        target_column="label",
        target=TargetKind.BINARY,
        metric=MetricName.ROC_AUC,
        encoding="probability",
        classes=("0", "1"),
        submission_columns=("label",),
    )
    used: dict[str, Any] = {
        "is_lower_better": False,
        "trivial": 0.5,
        "oracle": 0.9,
        "board": tuple(BoardEntry(solver=f"s{i}", tier=Tier.NAIVE, final=i / 100, feedback=i / 100) for i in range(48)),
        "thresholds": Thresholds(gold=0.8, silver=0.7, bronze=0.6, median=0.55),
    }
    calibration = Calibration.model_construct(**used)
    return grade_submission(submission, answers, facts, calibration)


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"


def _write_public(folder: Path) -> Path:
    public = folder / "public"
    public.mkdir()
    rows = [(i, ((i * 37) % 1000) / 250 - 2, ((i * 61) % 1000) / 250 - 2) for i in range(TRAIN_ROWS + TEST_ROWS)]
    train = [f"{i},{a},{b},{int(a + b > 0)}" for i, a, b in rows[:TRAIN_ROWS]]
    (public / "train.csv").write_text("\n".join(["id,a,b,label", *train, ""]))
    test = [f"{i},{a},{b}" for i, a, b in rows[TRAIN_ROWS:]]
    (public / "test.csv").write_text("\n".join(["id,a,b", *test, ""]))
    return public


if __name__ == "__main__":
    main()
