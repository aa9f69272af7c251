"""Runs cannot pass data through what they share: system files, devices, public files, the warm interpreter."""

import os
from pathlib import Path

from sandmill.sandbox.agent_env import GUEST
from tests.sandbox_corpus import CORPUS, write_public
from tests.unit.sandbox.test_isolation import seen

CHANGES = (CORPUS / "changes.txt").read_text("utf-8")


def test_nothing_can_be_changed_watched_or_leased_that_other_runs_see(box, public):
    assert seen(box, public, CHANGES) == []


def test_devices_work_although_nothing_about_them_can_be_changed(box, public):
    code = """
import os
with open("/dev/null", "w") as file: file.write("x")
def full():
    try: open("/dev/full", "w", buffering=1).write("x\\n")
    except OSError as error: return error.strerror
print([open("/dev/zero", "rb", 0).read(2), len(open("/dev/urandom", "rb", 0).read(8)), full(), os.read(0, 1)])
"""
    assert seen(box, public, code) == [b"\0\0", 8, "No space left on device", b""]


def test_reading_leaves_no_times_behind(box, tmp_path):
    public = write_public(tmp_path)
    tmp_path.chmod(0o755)
    train = public / "train.csv"
    os.utime(train, (1000, 2000))
    assert seen(box, public, "print(len(open('public/train.csv').read()) > 0)") is True
    assert train.stat().st_atime == 1000


def test_runs_of_one_interpreter_share_no_key(box, public):
    code = "import multiprocessing; print(bytes(multiprocessing.current_process().authkey))"
    assert len({seen(box, public, code) for _ in range(3)}) == 3


def test_nothing_tells_where_we_are_installed(box, public):
    places = [str(GUEST), str(GUEST.parents[2]), str(Path(__file__).parents[3])]
    code = f"""
import gc, sys, types
told = [repr([sys.argv, sys.orig_argv, sys.path, list(sys.path_importer_cache)])]
told += [repr(module) for module in sys.modules.values()]
for name in ("cmdline", "environ", "maps", "mountinfo", "mounts", "comm", "status", "stat", "limits"):
    told.append(open(f"/proc/self/{{name}}", errors="replace").read())
told += [thing.__code__.co_filename for thing in gc.get_objects() if isinstance(thing, types.FunctionType)]
frame = sys._getframe()
while frame:
    told.append(frame.f_code.co_filename)
    frame = frame.f_back
places = [place[::-1] for place in {[place[::-1] for place in places]!r}]
print([place for place in places if any(place in text for text in told if text != __file__)])
"""
    assert seen(box, public, code) == []
