"""Honest scripts of every habit: each writes submission.csv, or ends as it says, the same with and without isolation.

They find `public/train.csv` (id, a, b, label; 60 rows) and `public/test.csv` (id, a, b; 40 rows).
"""

from pathlib import Path

OK = {
    "plain text": """
open("submission.csv", "w").write("id,label\\n1,0\\n")
""",
    "csv module": """
import csv
with open("public/test.csv") as source, open("submission.csv", "w", newline="") as target:
    rows = csv.DictReader(source)
    writer = csv.writer(target)
    writer.writerow(["id", "label"])
    writer.writerows([row["id"], round(float(row["a"]), 3)] for row in rows)
""",
    "arguments": """
import sys, pathlib
folder, out = sys.argv[1:]
assert sys.argv[0] == "solution.py"
pathlib.Path(out).write_bytes(pathlib.Path(folder, "test.csv").read_bytes())
""",
    "absolute paths": """
import os
here = os.path.abspath("public")
text = open(os.path.join(here, "train.csv")).read()
open(os.path.join(os.getcwd(), "submission.csv"), "w").write(text)
""",
    "path of the script": """
from pathlib import Path
here = Path(__file__).resolve().parent
assert (here / "public").is_dir() and Path(__file__).name == "solution.py"
(here / "submission.csv").write_text(Path(__file__).read_text())
""",
    "listing": """
import glob, os
found = sorted(glob.glob("public/**", recursive=True)) + sorted(os.listdir("public"))
open("submission.csv", "w").write("\\n".join(found))
""",
    "file left open": """
target = open("submission.csv", "w")
target.write("never closed, as in many notebooks")
""",
    "file left open in a cycle": """
class Writer:
    def __init__(self):
        self.me, self.file = self, open("submission.csv", "w")
Writer().file.write("collected at the end")
""",
    "main guard": """
def main():
    open("submission.csv", "w").write(__name__)
if __name__ == "__main__":
    main()
""",
    "sys.exit(0)": """
import sys
open("submission.csv", "w").write("x")
sys.exit(0)
""",
    "exit": """
open("submission.csv", "w").write("x")
exit()
""",
    "atexit": """
import atexit
atexit.register(lambda: open("submission.csv", "w").write("late"))
""",
    "print and warn": """
import sys, warnings
print("hello"); print("oops", file=sys.stderr); warnings.warn("careful")
open("submission.csv", "w").write("x")
""",
    "unicode": """
print("Größe: ½ – 日本")
open("submission.csv", "w").write("Größe,日本\\n")
""",
    "numpy": """
import numpy as np
data = np.genfromtxt("public/train.csv", delimiter=",", skip_header=1)
w, *_ = np.linalg.lstsq(data[:, 1:3], data[:, 3], rcond=None)
np.savetxt("submission.csv", np.round(w, 6))
""",
    "numpy generators": """
import numpy as np, random
np.random.seed(7); random.seed(7)
values = [np.random.rand(), np.random.default_rng(3).normal(), random.random()]
open("submission.csv", "w").write(repr([float(v) for v in values]))
""",
    "hash order": """
open("submission.csv", "w").write(",".join({f"column_{i}" for i in range(50)}))
""",
    "pandas": """
import pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
test["label"] = (test.a > train.a.mean()).astype(int)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "pandas groupby and dates": """
import pandas as pd
t = pd.read_csv("public/train.csv")
t["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(t.id, unit="D")
t.groupby(t.day.dt.month).b.agg(["mean", "size"]).round(6).to_csv("submission.csv")
""",
    "polars": """
import polars as pl
t = pl.read_csv("public/train.csv")
t.group_by("label").agg(pl.col("a").mean().round(6)).sort("label").write_csv("submission.csv")
""",
    "polars lazy": """
import polars as pl
lazy = pl.scan_csv("public/train.csv").filter(pl.col("a") > 0).select("id", "b").sort("id")
lazy.collect().write_csv("submission.csv")
""",
    "pyarrow and parquet": """
import pyarrow.csv as pc, pyarrow.parquet as pq, pyarrow.compute as c
pq.write_table(pc.read_csv("public/train.csv"), "train.parquet")
t = pq.read_table("train.parquet")
open("submission.csv", "w").write(f"{c.sum(t['a']).as_py():.6f} {t.num_rows}")
""",
    "pandas parquet": """
import pandas as pd
pd.read_csv("public/train.csv").to_parquet("t.parquet")
pd.read_parquet("t.parquet").to_csv("submission.csv", index=False)
""",
    "scipy": """
import pandas as pd
from scipy import stats, optimize
t = pd.read_csv("public/train.csv")
r = stats.spearmanr(t.a, t.b).statistic
m = optimize.minimize_scalar(lambda x: ((t.a - x) ** 2).sum()).x
open("submission.csv", "w").write(f"{r:.6f} {m:.4f}")
""",
    "logistic regression": """
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "histogram boosting": """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "forest on all processors": """
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = RandomForestClassifier(30, n_jobs=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "grid search in processes": """
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
train = pd.read_csv("public/train.csv")
search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, n_jobs=2, cv=3)
search.fit(train[["a", "b"]], train.label)
open("submission.csv", "w").write(f"{search.best_params_} {search.best_score_:.6f}")
""",
    "nearest neighbours and imputing": """
import pandas as pd
from sklearn.impute import KNNImputer
from sklearn.neighbors import KNeighborsRegressor
train = pd.read_csv("public/train.csv")
x = train[["a", "b"]].mask(train[["a", "b"]] > 1.5)
model = KNeighborsRegressor(3).fit(KNNImputer().fit_transform(x), train.label)
open("submission.csv", "w").write(f"{model.predict([[0.0, 0.0]])[0]:.6f}")
""",
    "k-means with threads": """
import pandas as pd
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
train = pd.read_csv("public/train.csv")
with threadpool_limits(2):
    inertia = KMeans(3, n_init=2, random_state=0).fit(train[["a", "b"]]).inertia_
open("submission.csv", "w").write(f"{inertia:.4f}")
""",
    "lightgbm": """
import pandas as pd, lightgbm as lgb
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = lgb.LGBMClassifier(n_estimators=10, verbose=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "lightgbm with threads": """
import pandas as pd, lightgbm as lgb
train = pd.read_csv("public/train.csv")
data = lgb.Dataset(train[["a", "b"]], train.label)
parameters = {"objective": "binary", "num_threads": 2, "verbose": -1, "deterministic": True}
booster = lgb.train(parameters, data, 5)
open("submission.csv", "w").write(f"{booster.predict(train[['a', 'b']]).mean():.6f}")
""",
    "xgboost": """
import pandas as pd
from xgboost import XGBClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = XGBClassifier(n_estimators=10, n_jobs=2).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].astype(float).round(5)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "pillow": """
from PIL import Image
picture = Image.new("L", (8, 8), 40); picture.putpixel((1, 1), 255); picture.save("p.png")
open("submission.csv", "w").write(str(sum(Image.open("p.png").getdata())))
""",
    "joblib dump": """
import joblib
joblib.dump({"a": list(range(10))}, "model.joblib", compress=3)
open("submission.csv", "w").write(str(joblib.load("model.joblib")))
""",
    "joblib loky": """
from joblib import Parallel, delayed
def square(x): return x * x
open("submission.csv", "w").write(str(Parallel(n_jobs=2)(delayed(square)(i) for i in range(8))))
""",
    "joblib memmapping": """
import numpy as np
from joblib import Parallel, delayed
big = np.arange(300_000, dtype=float)
open("submission.csv", "w").write(str(Parallel(n_jobs=2)(delayed(np.sum)(big[i:]) for i in range(3))))
""",
    "joblib threads": """
from joblib import Parallel, delayed
result = Parallel(n_jobs=3, backend="threading")(delayed(pow)(i, 2) for i in range(6))
open("submission.csv", "w").write(str(result))
""",
    "multiprocessing fork": """
import multiprocessing as mp
def square(x): return x * x
with mp.get_context("fork").Pool(2) as pool:
    open("submission.csv", "w").write(str(pool.map(square, range(6))))
""",
    "multiprocessing spawn": """
import multiprocessing as mp
def square(x): return x * x
if __name__ == "__main__":
    with mp.get_context("spawn").Pool(2) as pool:
        open("submission.csv", "w").write(str(pool.map(square, range(6))))
""",
    "multiprocessing forkserver": """
import multiprocessing as mp
def square(x): return x * x
if __name__ == "__main__":
    with mp.get_context("forkserver").Pool(2) as pool:
        open("submission.csv", "w").write(str(pool.map(square, range(6))))
""",
    "shared memory": """
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=64)
block.buf[:3] = b"abc"
open("submission.csv", "wb").write(bytes(block.buf[:3]))
block.close(); block.unlink()
""",
    "process pool executor": """
from concurrent.futures import ProcessPoolExecutor
def cube(x): return x ** 3
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        open("submission.csv", "w").write(str(list(pool.map(cube, range(5)))))
""",
    "threads": """
import threading
found = []
threads = [threading.Thread(target=found.append, args=(i,)) for i in range(10)]
[t.start() for t in threads]; [t.join() for t in threads]
open("submission.csv", "w").write(str(sorted(found)))
""",
    "thread that outlives main": """
import threading, time
def late():
    time.sleep(0.2)
    open("submission.csv", "w").write("late")
threading.Thread(target=late).start()
""",
    "thread pool executor": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    open("submission.csv", "w").write(str(list(pool.map(abs, range(-3, 3)))))
""",
    "subprocess python": """
import subprocess, sys
code = "import numpy, sys; print(numpy.arange(3).sum(), sys.argv[1])"
out = subprocess.run([sys.executable, "-c", code, "x"], capture_output=True, text=True, check=True).stdout
open("submission.csv", "w").write(out)
""",
    "subprocess shell": """
import subprocess
subprocess.run("head -n 3 public/train.csv | sort > submission.csv", shell=True, check=True)
""",
    "own module": """
import pathlib
pathlib.Path("helper.py").write_text("VALUE = 41\\ndef more(): return VALUE + 1\\n")
import helper
pathlib.Path("submission.csv").write_text(str(helper.more()))
""",
    "asyncio": """
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("cat", "public/test.csv", stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    await asyncio.sleep(0.01)
    open("submission.csv", "wb").write(out)
asyncio.run(main())
""",
    "tempfile": """
import os, shutil, tempfile
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
    path = os.path.join(folder, "x"); open(path, "w").write("x")
    shutil.move(path, "submission.csv")
""",
    "atomic replace": """
import os, tempfile
handle, path = tempfile.mkstemp()
os.write(handle, b"whole"); os.close(handle)
os.replace(path, "submission.csv")
""",
    "sqlite": """
import sqlite3
base = sqlite3.connect("cache.db")
base.execute("create table t (x)")
base.executemany("insert into t values (?)", [(i,) for i in range(5)])
base.commit()
open("submission.csv", "w").write(str(base.execute("select sum(x) from t").fetchone()))
""",
    "pickle": """
import pickle
class Model:
    weight = 3
with open("model.pkl", "wb") as file: pickle.dump(Model(), file)
with open("model.pkl", "rb") as file: open("submission.csv", "w").write(str(pickle.load(file).weight))
""",
    "dataclass and typing": """
from dataclasses import dataclass, asdict
@dataclass
class Row:
    id: int
    label: float = 0.5
open("submission.csv", "w").write(str(asdict(Row(1))))
""",
    "logging": """
import logging
logging.basicConfig(filename="run.log", level=logging.INFO)
logging.getLogger(__name__).info("trained")
open("submission.csv", "w").write(open("run.log").read())
""",
    "signal alarm": """
import signal, time
def ring(*_): raise TimeoutError
signal.signal(signal.SIGALRM, ring); signal.setitimer(signal.ITIMER_REAL, 0.1)
try: time.sleep(5)
except TimeoutError: open("submission.csv", "w").write("rang")
""",
    "loopback of its own": """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hi")).start()
with socket.create_connection(server.getsockname()) as client:
    open("submission.csv", "wb").write(client.recv(2))
""",
    "home and cache": """
import os, pathlib
cache = pathlib.Path.home() / ".cache" / "x"; cache.mkdir(parents=True)
(cache / "y").write_text("1")
open("submission.csv", "w").write(os.path.relpath(cache, pathlib.Path.home()))
""",
    "links and folders": """
import os, shutil
os.mkdir("models"); open("models/a", "w").write("a"); os.symlink("models/a", "latest"); os.link("models/a", "again")
shutil.copy("latest", "submission.csv")
""",
    "read from standard input": """
import sys
open("submission.csv", "w").write(repr(sys.stdin.read()))
""",
    "caught memory error": """
try: x = bytearray(1 << 40)
except MemoryError: open("submission.csv", "w").write("too large")
""",
    "future annotations": """
from __future__ import annotations
def f(x: Unknown) -> None: ...
open("submission.csv", "w").write(str(f.__annotations__))
""",
}
"""Scripts that succeed."""

OTHER = {
    "division by zero": ("1/0", "runtime_error"),
    "syntax error": ("def broken(:", "runtime_error"),
    "sys.exit with a message": ("import sys; sys.exit('no data')", "runtime_error"),
    "exit code after a submission": ("open('submission.csv', 'w').write('x'); raise SystemExit(3)", "runtime_error"),
    "nothing written": ("x = 1", "no_submission"),
    "no code": (" \n\t\n", "no_code"),
    "missing module": ("import tensorflow", "runtime_error"),
    "missing file": ("open('public/nothing.csv')", "runtime_error"),
    "killed by itself": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "runtime_error"),
    "aborted": ("import os; os.abort()", "runtime_error"),
    "too much memory": ("x = bytearray(1 << 40)", "oom"),
    "too slow": ("import time; time.sleep(60)", "timeout"),
}
"""Scripts that end otherwise, and how."""


def write_public(folder: Path) -> Path:
    """Lay out the public files that the scripts read."""
    public = folder / "public"
    public.mkdir()
    rows = [(i, ((i * 37) % 100) / 25 - 2, ((i * 61) % 100) / 25 - 2) for i in range(100)]
    train = [f"{i},{a},{b},{int(a + b > 0)}" for i, a, b in rows[:60]]
    test = [f"{i},{a},{b}" for i, a, b in rows[60:]]
    (public / "train.csv").write_text("\n".join(["id,a,b,label", *train, ""]))
    (public / "test.csv").write_text("\n".join(["id,a,b", *test, ""]))
    return public
