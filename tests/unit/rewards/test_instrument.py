"""Instrumented scripts do what the scripts do, and print their milestones."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Marker
from sandmill.models.run import RunResult
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rewards import PRESETS
from sandmill.rewards.instrument import instrument
from sandmill.rewards.markers import marker_code, new_token, read_markers, without_marker_code
from sandmill.sandbox import Sandbox
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.release import load
from tests.rollouts import grade_at, rollout_of
from tests.sandbox_corpus import CORPUS
from tests.task_folders import write_task
from tests.unit.sandbox.conftest import make_box

TOKEN = "0123456789abcdef"


def run(code: str, *arguments: str, cwd=None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=60)


def run_file(folder) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "solution.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def marked_lines(code: str) -> dict[int, set[Marker]]:
    """Lines of the instrumented script with the markers on them."""
    lines = instrument(textwrap.dedent(code), TOKEN).splitlines()
    found = {n: {m for m in Marker if marker_code(m, TOKEN) in line} for n, line in enumerate(lines, 1)}
    return {number: markers for number, markers in found.items() if markers}


MILESTONES = {
    "import os\nimport pandas as pd": {2: {Marker.IMPORTS}},
    "from __future__ import annotations\nfrom __future__ import division": {},
    "train = pd.read_csv('train.csv')": {1: {Marker.DATA_LOADED}},
    "train = pl.scan_parquet('train.parquet')": {1: {Marker.DATA_LOADED}},
    "rows = json.load(open('x.json'))": {1: {Marker.DATA_LOADED}},
    "with zipfile.ZipFile(p) as z:\n    z.extractall()\nprint(1)": {3: {Marker.DATA_LOADED}},
    "with open('train.csv') as f:\n    rows = list(csv.reader(f))": {2: {Marker.DATA_LOADED}},
    "image = Image.open(path)": {1: {Marker.DATA_LOADED}},
    "df['ratio'] = df.a / df.b": {1: {Marker.FEATURES}},
    "X_train = train.drop(columns='y')": {1: {Marker.FEATURES}},
    "a = scaler.fit_transform(a)": {1: {Marker.FEATURES}},
    "df = df.with_columns(z=1)": {1: {Marker.FEATURES}},
    "params['depth'] = 3": {},
    "os.environ['OMP_NUM_THREADS'] = '1'": {},
    "submission['target'] = 0": {},
    "from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler()\nscaler.fit(t)": {
        1: {Marker.IMPORTS},
        2: {Marker.FEATURES},
        3: {Marker.FEATURES},
    },
    "from sklearn.svm import LinearSVC as Mean\nm = Mean()": {1: {Marker.IMPORTS}, 2: {Marker.MODEL_BUILT}},
    "m = lgb.LGBMClassifier(n_estimators=5)": {1: {Marker.MODEL_BUILT}},
    "m = make_pipeline(a, b)": {1: {Marker.MODEL_BUILT}},
    "class Net:\n    def fit(self): return self\nnet = Net()": {3: {Marker.MODEL_BUILT}},
    "m.fit(a, b)": {1: {Marker.TRAINED}},
    "w = np.linalg.lstsq(a, b)[0]": {1: {Marker.TRAINED}},
    "bst = xgb.train(params, data)": {1: {Marker.TRAINED}},
    "model.train()": {},
    "p = [m.predict(a) for m in models]": {1: {Marker.PREDICTED}},
    "def f(m):\n    return m.predict_proba(a)[:, 1]": {2: {Marker.PREDICTED}},
    "later = lambda: m.predict(a)": {},
    "if m.predict(a) > 1:\n    pass\nprint(2)": {3: {Marker.PREDICTED}},
    "df.to_csv('submission.csv', index=False)": {1: {Marker.SUBMISSION_WRITTEN}},
    "import sys\nout = sys.argv[2]\ndf.to_csv(out)": {1: {Marker.IMPORTS}, 3: {Marker.SUBMISSION_WRITTEN}},
    "df.to_csv('features.csv')": {},
    "text = df.to_csv()": {},
    "with open('submission.csv', 'w') as f:\n    f.write(t)\nprint(1)": {3: {Marker.SUBMISSION_WRITTEN}},
    "with open('submission.csv', 'w') as f:\n    for r in rows:\n        f.write(r)": {3: {Marker.SUBMISSION_WRITTEN}},
    "Path('submission.csv').write_text(t)": {1: {Marker.SUBMISSION_WRITTEN}},
    "shutil.copy('sample.csv', 'submission.csv')": {1: {Marker.SUBMISSION_WRITTEN}},
    "with open('model.pkl', 'wb') as f:\n    pickle.dump(m, f)": {},
    "if a: m.fit(x)\nelse: m.predict(x)": {1: {Marker.TRAINED}, 2: {Marker.PREDICTED}},
}


@pytest.mark.parametrize("code", MILESTONES)
def test_milestones_are_marked_where_they_are_reached(code):
    assert marked_lines(code) == MILESTONES[code]


SCRIPT = (CORPUS / "many_habits.txt").read_text("utf-8")


def test_a_script_does_the_same_and_its_output_is_restored(tmp_path):
    (tmp_path / "data.json").write_text("[1, 2, 3]")
    plain = run(SCRIPT, "data.json", cwd=tmp_path)
    submission = (tmp_path / "submission.csv").read_bytes()
    (tmp_path / "submission.csv").unlink()
    marked = run(instrument(SCRIPT, TOKEN), "data.json", cwd=tmp_path)
    markers, stdout = read_markers(marked.stdout, TOKEN)
    assert markers == tuple(Marker)
    assert "ZeroDivisionError" in plain.stderr
    assert "done\nA docstring" not in plain.stdout
    assert (stdout, without_marker_code(marked.stderr, TOKEN)) == (plain.stdout, plain.stderr)
    assert marked.returncode == plain.returncode == 1
    assert (tmp_path / "submission.csv").read_bytes() == submission


def test_tracebacks_are_shown_without_marker_code(tmp_path):
    code = "import json\n\ndef f(m):\n    return m.predict(1)\n\nm = json.load; m.fit(1)\n"
    for name, text in (("a", code), ("b", instrument(code, TOKEN))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solution.py").write_text(text)
    plain, marked = (run_file(tmp_path / name) for name in ("a", "b"))
    assert TOKEN in marked.stderr
    assert "m = json.load; m.fit(1)" in plain.stderr
    shown = without_marker_code(marked.stderr, TOKEN).replace(str(tmp_path / "b"), str(tmp_path / "a"))
    assert [line for line in shown.splitlines() if "^" not in line] == [
        line for line in plain.stderr.splitlines() if "^" not in line
    ]


MODEL = "class Mean:\n    def fit(self): pass\n"
HARDENED = {
    "standard output is captured": (
        "import io, contextlib, json\nwith contextlib.redirect_stdout(io.StringIO()) as f:\n    x = json.loads('[1]')\n"
        "    class Mean:\n        def fit(self): pass\n    m = Mean()\n    m.fit()\nassert f.getvalue() == ''"
    ),
    "standard output is closed": f"import os\nos.close(1)\n{MODEL}Mean().fit()",
    "another file has the descriptor": (
        f"import os, tempfile\nos.close(1)\nf = tempfile.TemporaryFile()\n{MODEL}Mean().fit()\n"
        "assert (f.fileno(), f.seek(0), f.read()) == (1, 0, b'')"
    ),
    "the stream is closed": f"import sys\nsys.stdout.close()\n{MODEL}Mean().fit()",
    "print and exec are other things": f"import os\nprint = exec = open = None\n{MODEL}Mean().fit()",
    "names are counted": f"import os\na = set(dir())\n{MODEL}Mean().fit()\nassert set(dir()) == a | {{'a', 'Mean'}}",
    "code runs in a process of its own": (
        f"import multiprocessing as mp\n{MODEL}def work(n):\n    Mean().fit()\n    return n\n"
        "with mp.get_context('fork').Pool(2) as pool:\n    assert pool.map(work, range(4)) == [0, 1, 2, 3]"
    ),
    "a generator, a lambda and a starred tuple are returned": (
        "import os\nclass Mean:\n    def predict(self): return 1\nm = Mean()\n"
        "def f(): return (i for i in [m.predict()])\ndef g(): return lambda: m.predict()\n"
        "def h(): return *[m.predict()], 2\ndef k(): return m.predict(), 3\nasync def a(): return m.predict()\n"
        "assert (list(f()), g()(), h(), k()) == ([1], 1, (1, 2), (1, 3))"
    ),
}


@pytest.mark.parametrize("name", HARDENED)
def test_markers_disturb_nothing(name):
    marked = instrument(HARDENED[name], TOKEN)
    assert marked != HARDENED[name]
    for code in (HARDENED[name], marked):
        ran = run(code)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_a_loop_prints_its_marker_once():
    code = "import os\nclass Mean:\n    def fit(self): pass\nfor _ in range(10_000):\n    Mean().fit()\n"
    stdout = run(instrument(code, TOKEN)).stdout
    assert stdout.count("\n") == 3
    assert read_markers(stdout, TOKEN) == ((Marker.IMPORTS, Marker.MODEL_BUILT, Marker.TRAINED), "")


def test_prints_without_the_token_are_no_markers():
    said = f"<sandmill_{new_token()} trained>\ntrained\nsandmill: trained\n<sandmill_ trained>\n"
    assert read_markers(said, TOKEN) == ((), said)
    assert read_markers(f"a<sandmill_{TOKEN} trained nonsense>\nb", TOKEN) == ((Marker.TRAINED,), "ab")


UNCHANGED = {
    "no Python": "def (",
    "an empty script": "",
    "null bytes": "m.fit(1)\0",
    "half a character": "x = '\udcff'\nm.fit(1)",
    "a byte order mark": "\ufeffm.fit(1)",
    "brackets": "x = " + "(" * 5000 + ")" * 5000,
    "a sum": "x = " + "-" * 100_000 + "1",
    "a long sum": "x = " + "1+" * 10_000 + "1\nm.fit(1)",
    "many attributes": "x = a" + ".b" * 10_000 + "\nm.fit(1)",
    "many branches": "if a: pass\n" + "elif b: pass\n" * 2000 + "m.fit(1)",
    "a long script": "m.fit(1)\n" * 10_000,
    "no milestone": "x = 1",
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_cannot_be_instrumented_is_returned_as_it_is(name):
    assert instrument(UNCHANGED[name], TOKEN) == UNCHANGED[name]


HOSTILE = {
    "nested calls": "x = " + "f(" * 59 + "1" + ")" * 59 + "\nm.fit(1)",
    "nested comprehensions": "x = [" + "[y for y in " * 50 + "z" + "]" * 51 + "\nm.fit(1)",
    "nested dictionaries": "x = " + "{1:" * 59 + "1" + "}" * 59 + "\nm.fit(1)",
    "a chain of comparisons": "x = " + "a < " * 5000 + "b\nm.fit(1)",
    "a chain of ands": "x = " + "a and " * 5000 + "b\nm.fit(1)",
    "a long text in pieces": "x = " + "'a' " * 5000 + "\nm.fit(1)",
    "many decorators": "@d\n" * 3000 + "def f(): m.fit(1)",
    "names of names": "".join(f"a{i} = [{','.join(f'a{j}' for j in range(20))}]\n" for i in range(200))
    + "m.to_csv(a1)\n" * 200,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scripts_neither_crash_nor_stall_the_parent(name):
    code = f"from sandmill.rewards.instrument import instrument as i\ni({HOSTILE[name]!r}, {TOKEN!r})"
    assert run(code).returncode == 0


@pytest.mark.parametrize("token", ["", "short", "a" * 65, "with space", "x'];import os#", None, 12345678])
def test_a_token_that_is_no_plain_word_is_refused(token):
    with pytest.raises(InputError, match=r"expected 8 to 64 letters and digits\. new_token"):
        instrument("m.fit(1)", token)


FAKES = """
import os, re, sys
names = "imports data_loaded features model_built trained predicted submission_written"
for name in names.split():
    print(name, "sandmill:", name, f"<sandmill_{name} {name}>")
with open(sys.argv[0]) as source:
    token = re.search("sandmill_([0-9a-f]{16})", source.read())[1]
os.write(1, f"<sandmill_{token} {names}>\\n".encode())
"""


def test_a_script_that_prints_every_marker_earns_less_than_any_valid_submission(tmp_path):
    """It finds the token in its own source, so all its markers count."""
    (tmp_path / "solution.py").write_text(instrument(FAKES, TOKEN))
    markers, _ = read_markers(run_file(tmp_path).stdout, TOKEN)
    assert markers == tuple(Marker)
    faked = rollout_of(grade_at(None, Outcome.NO_SUBMISSION), markers)
    for preset in PRESETS.values():
        for share in (-1e6, -0.01, 0.0, 1.0):
            assert preset(faked).total <= preset(rollout_of(grade_at(share))).total
    strictest = PRESETS["partial-credit-grpo"]
    assert strictest(faked).total < strictest(rollout_of(grade_at(-1e6))).total


pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
SCRIPTS = ("solution.py", "competent.py", "naive.py")


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    create_agent_env()
    with make_box("warm") as opened:
        yield opened


def run_both(box: Sandbox, code: str, public: Path) -> tuple[RunResult, RunResult, tuple[Marker, ...]]:
    """Run a script without and with markers, and take the markers out of the second result."""
    token = new_token()
    marked_code = instrument(code, token)
    assert marked_code != code
    plain, marked = (box.run(text, public=public, timeout=60) for text in (code, marked_code))
    markers, stdout = read_markers(marked.stdout, token)
    stderr = without_marker_code(marked.stderr, token)
    return plain, marked.model_copy(update={"stdout": stdout, "stderr": stderr}), markers


def test_published_scripts_write_the_same_bytes_and_reach_every_milestone(small_release, box, tmp_path):
    load(small_release).pull(tmp_path)
    tasks = sorted(tmp_path.iterdir())
    assert len(tasks) == 2
    for task in tasks:
        for name in SCRIPTS:
            plain, marked, markers = run_both(box, (task / "private" / name).read_text(), task / "public")
            assert plain.outcome is marked.outcome is Outcome.OK, marked
            assert markers == tuple(Marker), name
            for field in ("submission", "stdout", "stderr", "detail"):
                assert getattr(plain, field) == getattr(marked, field), (name, field)


AGENT = (CORPUS / "agent.txt").read_text("utf-8")


@pytest.mark.parametrize("ending", ["print('done')", "raise KeyError('at the end')"])
def test_a_script_of_functions_does_the_same_with_markers(ending, box, tmp_path):
    task = write_task(tmp_path, TargetKind.BINARY, MetricName.ROC_AUC)
    plain, marked, markers = run_both(box, AGENT.replace("{ending}", ending), task / "public")
    assert markers == tuple(Marker)
    assert (marked.outcome, marked.submission, marked.stdout) == (plain.outcome, plain.submission, plain.stdout)
    assert marked.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


def test_a_script_that_stops_half_way_has_the_markers_up_to_there(box, tmp_path):
    task = write_task(tmp_path, TargetKind.BINARY, MetricName.ROC_AUC)
    code = AGENT.replace("model.fit(X.iloc[a], y.iloc[a])", "model.fit(X.iloc[a], None)").replace("{ending}", "")
    plain, marked, markers = run_both(box, code, task / "public")
    assert plain.outcome is marked.outcome is Outcome.RUNTIME_ERROR
    assert markers == (Marker.IMPORTS, Marker.DATA_LOADED, Marker.FEATURES, Marker.MODEL_BUILT)
    assert [line for line in marked.stderr.splitlines() if "solution.py" in line] == [
        line for line in plain.stderr.splitlines() if "solution.py" in line
    ]
