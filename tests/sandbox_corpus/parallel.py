"""Honest scripts that start threads and processes, by every way that Python has."""

PARALLEL = {
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
    "shared memory": """
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=64)
block.buf[:3] = b"abc"
open("submission.csv", "wb").write(bytes(block.buf[:3]))
block.close(); block.unlink()
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
}
