"""Attacks on the machine: processes, memory, disk, output, time. Each ends by its own fault, within its limits."""

import resource
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandmill.models.reports import Outcome
from tests.redteam.attacks import INVALID, RESOURCES, Attack
from tests.redteam.siege import Siege


def test_deep_trees_in_many_steps_at_a_time_are_the_agents_alone(siege: Siege, tmp_path):
    code = "import os\nfor _ in range(31): os.mkdir('d' * 200); os.chdir('d' * 200)"
    folders = [tmp_path / str(number) for number in range(28)]
    for folder in folders:
        folder.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    public = siege.targets[0].public
    try:
        with ThreadPoolExecutor(len(folders)) as pool:
            for _ in range(2):
                steps = [
                    pool.submit(siege.box.run, code, public=public, scratch=folder, timeout=60) for folder in folders
                ]
                ended = {step.result().outcome for step in steps}
                assert ended <= {Outcome.NO_SUBMISSION, Outcome.RUNTIME_ERROR}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


GIANTS = {
    "short lines": "'a\\n'",
    "empty lines": "'\\n'",
    "commas": "','",
    "quoted line ends": "'\"\\n\",'",
    "rows": "SAMPLE[0][0] + ',1\\n'",
    "one number": "'1'",
}


HIDDEN_MEMORY = """
import ctypes, threading
libc = ctypes.CDLL(None)
def hold():
    time.sleep(0.2)
    held = bytearray(b"1") * (150 << 20)
    time.sleep(60)
    os._exit(0)
for _ in range(20):
    if not os.fork():
        libc.prctl(15, {name!r}, 0, 0, 0)
        threading.Thread(target=hold).start()
        libc.syscall(60, 0)
time.sleep(60)
"""


@pytest.mark.parametrize("name", [b"\x0cVmRSS:0", b"\xff", b"a\rRssAnon:z"])
def test_memory_behind_a_forged_name_is_counted(name: bytes, siege: Siege):
    """Twenty times 150 MB, more than the 2,048 MB of a run."""
    code = f"import os, time\n{HIDDEN_MEMORY.format(name=name)}"
    assert siege.box.run(code, public=siege.targets[0].public, timeout=30).outcome is Outcome.OOM


@pytest.mark.parametrize("name", RESOURCES)
def test_what_is_taken_is_bounded_and_never_our_fault(name: str, siege: Siege):
    siege.survives(RESOURCES[name])


@pytest.mark.parametrize("name", GIANTS)
def test_a_gigantic_csv_costs_the_grader_little(name: str, siege: Siege):
    code = f"text = {GIANTS[name]}\nopen('submission.csv', 'w').write(','.join(HEADER) + '\\n' + text * ((50 << 20) // len(text)))"
    attack = Attack(code, INVALID, (18,), is_dear=True)
    siege.survives(attack)
    target = siege.targets[0]
    header = (target.public / "sample_submission.csv").read_bytes().splitlines(keepends=True)[0]
    tracemalloc.start()
    assert target.grade(header + b"a,1\n" * (1 << 20)).outcome is Outcome.INVALID_SUBMISSION
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20
