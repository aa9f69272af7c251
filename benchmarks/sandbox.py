"""Latency of a run, interleaved so that all kinds meet the same load: `python -m benchmarks.sandbox --runs 20`."""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from sandmill.sandbox import Sandbox
from sandmill.sandbox.interpreter import guest_environment

SCRIPT = """
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
columns = [name for name in test if name != "id"]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[columns], train.label)
test["label"] = model.predict_proba(test[columns])[:, 1]
test[["id", "label"]].to_csv("submission.csv", index=False)
"""
EMPTY = 'open("submission.csv", "w").write("x")'


def main() -> None:
    """Print medians, and runs a second at 1, 2 and 8 at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        public = _write_public(Path(name))
        with Sandbox("warm") as warm, Sandbox("bwrap") as bwrap:
            kinds: dict[str, Callable[[], object]] = {
                "cold python": lambda: _run_cold(warm, Path(name)),
                "bwrap": lambda: bwrap.run(SCRIPT, public=public),
                "warm": lambda: warm.run(SCRIPT, public=public),
                "warm, nothing to do": lambda: warm.run(EMPTY, public=public),
            }
            seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
            for _ in range(runs):
                for kind, call in kinds.items():
                    seconds[kind].append(_timed(call))
            print("| kind | median s | least s |\n|---|---:|---:|")
            for kind, taken in seconds.items():
                print(f"| {kind} | {median(taken):.3f} | {min(taken):.3f} |")
            compute = _compute(warm, Path(name))
            print(f"| the same in one hot process | {compute:.3f} | |")
            for at_once in (1, 2, 8):
                with ThreadPoolExecutor(at_once) as pool:
                    started = time.monotonic()
                    list(pool.map(lambda _: warm.run(SCRIPT, public=public), range(4 * runs)))
                    print(f"\n{at_once} at a time: {4 * runs / (time.monotonic() - started):.1f} runs a second", end="")
            print()


def _timed(call: Callable[[], object]) -> float:
    started = time.monotonic()
    call()
    return time.monotonic() - started


def _run_cold(box: Sandbox, folder: Path) -> None:
    (folder / "solution.py").write_text(SCRIPT)
    subprocess.run([str(box.agent_env.python), "solution.py"], cwd=folder, env=guest_environment(), check=True)


def _compute(box: Sandbox, folder: Path) -> float:
    code = f"""
import time
seconds = []
for _ in range(15):
    started = time.monotonic()
    exec({SCRIPT!r}, {{}})
    seconds.append(time.monotonic() - started)
print(sorted(seconds)[7])
"""
    command = [str(box.agent_env.python), "-c", code]
    return float(subprocess.run(command, cwd=folder, env=guest_environment(), check=True, capture_output=True).stdout)


def _write_public(folder: Path) -> Path:
    public = folder / "public"
    public.mkdir()
    rows = [(i, ((i * 37) % 1000) / 250 - 2, ((i * 61) % 1000) / 250 - 2) for i in range(1150)]
    train = [f"{i},{a},{b},{int(a + b > 0)}" for i, a, b in rows[:150]]
    (public / "train.csv").write_text("\n".join(["id,a,b,label", *train, ""]))
    (public / "test.csv").write_text("\n".join(["id,a,b", *(f"{i},{a},{b}" for i, a, b in rows[150:]), ""]))
    return public


if __name__ == "__main__":
    main()
