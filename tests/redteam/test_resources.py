"""Attacks on the machine: processes, memory, disk, output, time. Each ends by its own fault, within its limits."""

import resource
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandmill.models.reports import Outcome
from tests.redteam.attacks import Attack
from tests.redteam.siege import Siege

OK, NOTHING, INVALID, TIMEOUT, OOM, ERROR = (
    ("ok",),
    ("no_submission",),
    ("invalid_submission",),
    ("timeout",),
    ("oom",),
    ("runtime_error",),
)
ANY_FAILURE = ("timeout", "oom", "runtime_error", "no_submission")


def ended_soon(results):
    assert results[-1].duration_s < 15


ATTACKS = {
    "a fork bomb that ignores signals": Attack(
        """
for number in (1, 2, 3, 15): signal.signal(number, signal.SIG_IGN)
while True:
    try:
        if not os.fork(): os.setsid()
    except OSError: time.sleep(0.01)
""",
        TIMEOUT,
        (18,),
        timeout=2,
        is_dear=True,
    ),
    "a thread bomb": Attack(
        """
import threading
threads = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        threads += 1
except RuntimeError: pass
if threads > 200: print("BREACH", threads)
""",
        ANY_FAILURE,
        (18,),
        is_dear=True,
        check=ended_soon,
    ),
    "memory at once": Attack("x = bytearray(1 << 42)", OOM, (18,)),
    "memory piece by piece": Attack(
        "x = []\nwhile True: x.append(bytearray(b'1') * (64 << 20))", OOM, (18,), is_dear=True
    ),
    "memory in children": Attack(
        """
for _ in range(3):
    if not os.fork():
        x = bytearray(b"1") * (900 << 20)
        time.sleep(60)
time.sleep(60)
""",
        OOM,
        (18,),
        timeout=40,
        is_dear=True,
    ),
    "memory that is a file": Attack(
        "for i in range(8): open(f'/dev/shm/{i}', 'wb').write(b'1' * (100 << 20))", ERROR, (18,), is_dear=True
    ),
    "memory locked": Attack(
        """
import mmap
room = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(room))
must_fail("mlock", 149, at, 64 << 20)
must_fail("mlockall", 151, 3)
must_fail("huge pages", 9, 0, 1 << 30, 3, 0x40022, -1, 0)
""",
        NOTHING,
    ),
    "memory shared with nobody": Attack(
        """
for flags in (0x21, 0x23, 0x4021, 0x40021, 0x40022, 0x8000021):
    must_fail(f"mmap {flags:x}", 9, 0, 1 << 20, 3, flags, -1, 0)
for path in ("/dev/zero", "/dev/full", "/dev/null", "/dev/random", "/dev/urandom"):
    for mode in (os.O_RDWR, os.O_RDONLY):
        must_fail(path, 9, 0, 1 << 20, 1, 1, os.open(path, mode), 0)
for name, number in {"memfd_create": 319, "memfd_secret": 447, "shmget": 29, "userfaultfd": 323, "io_setup": 206,
                     "remap_file_pages": 216, "vmsplice": 278}.items():
    must_fail(name, number, 0, 0, 0)
""",
        NOTHING,
    ),
    "memory behind an ended first thread": Attack(
        """
import threading
for _ in range(3): os.fork()
def hold():
    time.sleep(0.5)
    kept = bytearray(b"1") * (700 << 20)
    time.sleep(60)
threading.Thread(target=hold).start()
LIBC.syscall(60, 0)
""",
        OOM,
        timeout=40,
        is_dear=True,
    ),
    "a name that looks like a size": Attack(
        """
for name in (b"x kB", b"a\\nVmRSS: 1 kB", b"VmRSS: -1 kB"):
    LIBC.prctl(15, name, 0, 0, 0)
    time.sleep(0.2)
""",
        NOTHING,
    ),
    "the disk filled": Attack(
        "while True: open(str(time.time_ns()), 'wb').write(bytes(50 << 20))", ERROR, (18,), is_dear=True
    ),
    "the temporary folder filled": Attack(
        "while True: open(f'/tmp/{time.time_ns()}', 'wb').write(bytes(50 << 20))", ERROR, (18,), is_dear=True
    ),
    "all inodes": Attack("n = 0\nwhile True: open(f'/tmp/{n}', 'w').close(); n += 1", ERROR, (18,), is_dear=True),
    "attributes for memory": Attack(
        """
open("a", "w").close()
try:
    for n in range(100000): os.setxattr("a", f"user.{n}", b"x" * 60000)
except OSError: raise SystemExit(1)
""",
        ERROR,
        is_dear=True,
    ),
    "a deep tree": Attack("for _ in range(3000): os.mkdir('d'); os.chdir('d')", NOTHING, (18,), is_dear=True),
    "holes": Attack("for n in range(40): open(f'{n}', 'wb').truncate(250 << 20)", NOTHING, (18,), is_dear=True),
    "names without end": Attack(
        """
for _ in range(31): os.mkdir("d" * 55); os.chdir("d" * 55)
for number in range(18000): os.close(os.open(b"\\xff" * 249 + b"n%05d" % number, os.O_CREAT | os.O_WRONLY))
""",
        NOTHING,
        timeout=30,
        is_dear=True,
    ),
    "descriptors": Attack("x = []\nwhile True: x.append(os.pipe())", ERROR, (18,)),
    "output without end": Attack("while True: print('x' * 1000)", TIMEOUT, (18,), timeout=2, is_dear=True),
    "output of control signs": Attack(
        "os.write(1, bytes(range(256)) * 1000); os.write(2, b'\\x1b[2J\\x9b' * 1000)", NOTHING
    ),
    "work without end": Attack("while True: pass", TIMEOUT, (25,), timeout=2),
    "a sleep past the limit": Attack("submit_sample(); time.sleep(60)", TIMEOUT, (25,), timeout=1),
    "every signal ignored": Attack(
        """
submit_sample()
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
""",
        TIMEOUT,
        (18, 25),
        timeout=2,
    ),
    "stopped for good": Attack("submit_sample(); os.kill(os.getpid(), signal.SIGSTOP)", TIMEOUT, timeout=2),
    "an ending that never ends": Attack(
        "import atexit, threading; submit_sample(); threading.Thread(target=lambda: time.sleep(600)).start()",
        TIMEOUT,
        timeout=2,
    ),
    "an ending that loops": Attack(
        """
class Sticky:
    def __del__(self):
        while True: pass
submit_sample()
x = Sticky()
""",
        TIMEOUT,
        timeout=2,
    ),
    "recursion": Attack(
        "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()", ("runtime_error", "oom"), is_dear=True
    ),
    "brackets without end": Attack("eval('(' * 10**6)", ("runtime_error", "oom")),
    "a crash in C": Attack("submit_sample(); ctypes.string_at(0)", ERROR),
    "a pipe bomb": Attack(
        """
pairs = []
try:
    while True:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        pairs.append((reader, writer))
        try:
            while os.write(writer, bytes(65536)): pass
        except BlockingIOError: pass
except OSError: raise SystemExit(1)
""",
        ERROR,
        is_dear=True,
    ),
    "sockets kept full": Attack(
        """
pairs = []
try:
    while True:
        near, far = socket.socketpair()
        near.setblocking(False)
        pairs.append((near, far))
        try:
            while near.send(bytes(65536)): pass
        except BlockingIOError: pass
except OSError: raise SystemExit(1)
""",
        ERROR,
        is_dear=True,
    ),
    "timers and watches": Attack(
        """
made = 0
for number, arguments in ((222, (0, 0, ctypes.addressof(ctypes.c_long()))), (253, ()), (291, (0,)), (290, (0, 0))):
    for _ in range(2000):
        if call(number, *arguments) < 0: break
        made += 1
print(made)
""",
        NOTHING,
        is_dear=True,
    ),
    "dead children kept": Attack(
        "\nfor _ in range(300):\n    try:\n        if not os.fork(): os._exit(0)\n    except OSError: break\n", NOTHING
    ),
    "processors taken": Attack(
        """
for what in (lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(50)), lambda: os.nice(-19), lambda: os.setpriority(0, 0, -20)):
    try:
        what()
        print("BREACH")
    except OSError: pass
""",
        NOTHING,
    ),
}


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


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_taken_is_bounded_and_never_our_fault(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


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


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
