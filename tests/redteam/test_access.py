"""Attacks that look for answers and secrets. Each is paid what a failed run is paid: nothing."""

import pytest

from tests.redteam.attacks import Attack
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")
NOTHING = ("no_submission",)


ATTACKS = {
    "answers above": Attack(
        """
for place in ("..", "../..", ".", "public/..", "/box", "/"):
    for name in ("answers.csv", "private/answers.csv", "private/task.json", "private/solution.py", "test_answer.csv"):
        take(os.path.join(place, name))
""",
        NOTHING,
        (1,),
    ),
    "answers at the host's path": Attack(
        """
for name in ("answers.csv", "task.json", "solution.py", "leaderboard.csv", "canary"):
    for task in [TOLD["task"], *TOLD["siblings"]]:
        take(f"{task}/private/{name}")
for path in TOLD["canaries"]:
    take(path)
""",
        NOTHING,
        (1, 17),
    ),
    "the path that the list of mounts shows": Attack(
        """
for line in open("/proc/self/mountinfo"):
    root, place = line.split()[3:5]
    for name in (root, os.path.dirname(root), place):
        for answers in ("private/answers.csv", "../private/answers.csv", "answers.csv"):
            take(os.path.join(name, answers))
""",
        NOTHING,
        (1,),
    ),
    "every file there is": Attack(
        """
for top in ("/box", "/etc", "/var", "/tmp", "/root", "/home", "/opt", "/srv", "/mnt", "/run", "/dev", "/sys"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and "public" not in path and "solution" not in name:
                take(path, 200)
""",
        NOTHING,
        (1,),
    ),
    "what lies at the root": Attack(
        """
wanted = {"bin", "box", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "sbin", "tmp", "usr", "var"}
tops = {TOLD["agent_env"].split("/")[1], sys.base_prefix.split("/")[1]}
found = set(os.listdir("/")) - wanted - tops - {".guest", ".public"}
if found: print("BREACH", found)
for hidden in ("/.guest", "/.public"):
    if os.path.isdir(hidden) and os.listdir(hidden): print("BREACH", hidden)
""",
        NOTHING,
        (1,),
    ),
    "folders of the system and of the interpreter": Attack(
        """
wanted = {"/usr": {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "share", "local"}, "/usr/share": {"zoneinfo"},
          "/usr/local": {"bin", "lib", "share", "lib64"} if sys.base_prefix == "/usr/local" else set(),
          TOLD["agent_env"]: {"bin", "lib", "lib64", "pyvenv.cfg"}}
if sys.base_prefix != "/usr":
    wanted[sys.base_prefix] = {"bin", "lib", "lib64", "share"}
    wanted[f"{sys.base_prefix}/bin"] = {"python", "python3", "python%d.%d" % sys.version_info[:2]}
for folder, names in wanted.items():
    found = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    if found - names: print("BREACH", folder, found - names)
for top in ("/usr/src", "/usr/local/src", "/usr/games", "/opt", "/srv", "/home"):
    is_on_the_way = any(path.startswith(f"{top}/") for path in (TOLD["agent_env"], sys.base_prefix))
    if os.path.exists(top) and not is_on_the_way: print("BREACH", top)
""",
        NOTHING,
        (1,),
    ),
    "environment and command lines": Attack(
        """
print(dict(os.environ))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "auxv", "stack", "syscall", "mountinfo", "status"):
        take(f"/proc/{pid}/{name}")
take(f"/proc/{TOLD['parent']}/environ")
""",
        NOTHING,
        (2,),
    ),
    "credentials": Attack(
        """
for home in ("/root", "/home", os.path.expanduser("~"), "/etc"):
    for name in (".aws/credentials", ".netrc", ".ssh/id_rsa", ".config/sandmill", ".kaggle/kaggle.json", "shadow", "gshadow",
                 ".cache/sandmill", ".git-credentials", "ssh/ssh_host_rsa_key", "hostname", "machine-id"):
        if take(f"{home}/{name}"): print("BREACH", home, name)
""",
        NOTHING,
        (2,),
    ),
    "roots of other processes": Attack(
        """
me = os.getpid()
for pid in [*filter(str.isdigit, os.listdir("/proc")), "1", str(TOLD["parent"])]:
    for way in ("root", "cwd", "exe", "fd", "map_files", "ns", "task"):
        place = f"/proc/{pid}/{way}"
        if pid != str(me):
            try: print(os.listdir(place))
            except OSError: pass
        take(f"{place}{TOLD['task']}/private/answers.csv")
        take(f"{place}{TOLD['canaries'][0]}")
""",
        NOTHING,
    ),
    "memory of other processes": Attack(
        """
for pid in {1, os.getppid(), TOLD["parent"], *(int(p) for p in os.listdir("/proc") if p.isdigit())} - {os.getpid()}:
    try:
        open(f"/proc/{pid}/mem", "rb").close()
        print("BREACH mem", pid)
    except OSError: pass
    must_fail("ptrace attach", 101, 16, pid)
    must_fail("ptrace seize", 101, 0x4206, pid)
    must_fail("process_vm_readv", 310, pid, 0, 0, 0, 0)
    must_fail("kcmp", 312, os.getpid(), pid, 0, 0, 0)
must_fail("traceme", 101, 0)
""",
        NOTHING,
    ),
    "descriptors of others": Attack(
        """
for descriptor in range(3, 1024):
    try: kind = os.fstat(descriptor)
    except OSError: continue
    print("BREACH descriptor", descriptor, os.readlink(f"/proc/self/fd/{descriptor}"))
for pid in {1, os.getppid(), TOLD["parent"]}:
    handle = call(434, pid)
    for descriptor in range(16 if handle >= 0 else 0):
        must_fail("pidfd_getfd", 438, handle, descriptor)
for descriptor in range(3):
    where = os.readlink(f"/proc/self/fd/{descriptor}")
    if not where.startswith(("pipe:", "/dev/null")): print("BREACH", where)
""",
        NOTHING,
    ),
    "what the stack and the collector know": Attack(
        """
import gc, warnings
warnings.simplefilter("ignore")
frame, seen = sys._getframe(), []
while frame:
    seen += [*frame.f_locals.values(), *frame.f_globals.values()]
    frame = frame.f_back
for thing in [*seen, *gc.get_objects()]:
    if isinstance(thing, socket.socket):
        for what in (b"started", b'{"status": 0}', b"run"):
            attempt(thing.send, what)
        attempt(thing.recv, 1 << 16, socket.MSG_DONTWAIT)
    if isinstance(thing, (str, bytes)) and len(thing) == 32:
        print(thing)  # as long as the secret
""",
        NOTHING,
    ),
    "our own code": Attack(
        """
import importlib
for name in ("sandmill", "sandmill.scoring.grading", "sandmill.sandbox.guest.box"):
    try:
        importlib.import_module(name)
        print("BREACH", name)
    except ImportError: pass
for name in ("src/sandmill/grading/grade.py", "README.md", ".git/config", "src/sandmill/sandbox/guest/agent.py"):
    if take(f"{TOLD['repository']}/{name}"): print("BREACH", name)
""",
        NOTHING,
        (10,),
    ),
    "data in installed packages": Attack(
        """
import glob
columns = open("public/test.csv").readline().strip().split(",")[1:]
for base in (sys.prefix, sys.base_prefix, "/usr/share", "/usr/local"):
    for pattern in ("**/datasets/data/*.csv*", "**/*answers*", "**/*submission*"):
        for path in glob.glob(f"{base}/{pattern}", recursive=True):
            if "dataset" in path and columns[0].encode() in take(path, 300): print("BREACH", path)
try:
    from sklearn.datasets import fetch_california_housing
    fetch_california_housing(n_retries=0)
    print("BREACH fetched")
except Exception as error: print(type(error).__name__)
""",
        NOTHING,
        (8,),
        timeout=60,
        is_dear=True,
    ),
    "answers linked": Attack(
        """
for path in (f"{TOLD['task']}/private/answers.csv", TOLD["canaries"][0], "public/train.csv"):
    for follow in (True, False):
        try: os.link(path, "submission.csv", follow_symlinks=follow)
        except OSError: pass
        else: print("BREACH", path)
os.symlink(f"{TOLD['task']}/private", "private")
os.symlink("/", "root")
""",
        NOTHING,
        (16,),
    ),
    "links for the next step": Attack(
        (
            "os.symlink(TOLD['task'], 'task'); os.mkdir('deep'); os.symlink('/', 'deep/root'); os.symlink(TOLD['canaries'][0], 'c')",
            "for path in ('task/private/answers.csv', 'c', 'deep/root' + TOLD['canaries'][0]): take(path)",
        ),
        NOTHING,
        (1,),
    ),
    "sealed from the next run": Attack(
        (
            "for f in ('/tmp', '/dev/shm', os.environ['HOME'], '/var/tmp'): open(f'{f}/left', 'w').write('x')",
            "for f in ('/tmp', '/dev/shm', os.environ['HOME'], '/var/tmp'):\n    if os.path.exists(f'{f}/left'): print('BREACH', f)",
        ),
        NOTHING,
    ),
    "existence told by errors": Attack(
        """
for path in (TOLD["task"], TOLD["repository"], TOLD["scratch"], *TOLD["siblings"], *TOLD["canaries"], "/" + "root/.ssh"):
    for probe in (os.stat, os.listdir, os.readlink, lambda p: os.access(p, 0) or 1 / 0):
        try: probe(path)
        except FileNotFoundError: continue
        except (OSError, ZeroDivisionError) as error:
            if getattr(error, "errno", errno.ENOENT) in (errno.ENOENT, errno.ENOTDIR): continue
        print("BREACH", path)
""",
        NOTHING,
        (1,),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_who_looks_for_answers_finds_none(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
