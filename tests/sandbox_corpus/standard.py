"""Honest scripts that need nothing but the standard library."""

STANDARD = {
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
    "path of the script": """
from pathlib import Path
here = Path(__file__).resolve().parent
assert (here / "public").is_dir() and Path(__file__).name == "solution.py"
(here / "submission.csv").write_text(Path(__file__).read_text())
""",
    "file left open": """
target = open("submission.csv", "w")
target.write("never closed, as in many notebooks")
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
    "atexit": """
import atexit
atexit.register(lambda: open("submission.csv", "w").write("late"))
""",
    "print and warn": """
import sys, warnings
print("hello"); print("oops", file=sys.stderr); warnings.warn("careful")
open("submission.csv", "w").write("x")
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
    "sqlite": """
import sqlite3
base = sqlite3.connect("cache.db")
base.execute("create table t (x)")
base.executemany("insert into t values (?)", [(i,) for i in range(5)])
base.commit()
open("submission.csv", "w").write(str(base.execute("select sum(x) from t").fetchone()))
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
