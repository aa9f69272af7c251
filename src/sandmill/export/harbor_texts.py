"""Texts of the files of a Harbor task. The paths are those that Harbor uses inside of its containers."""

from hashlib import sha256
from importlib.resources import files

WORKDIR = "/workdir"
BASE_IMAGE = "python:3.12.11-slim-bookworm"
"""Base of the agent's image, pinned by its tag."""

DOCKERFILE = f"""\
# The environment of agent and verifier. It has the pinned packages, and neither data nor answers of any task.
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /opt/requirements.txt
RUN pip install --no-cache-dir --no-deps -r /opt/requirements.txt
RUN useradd --create-home agent && mkdir {WORKDIR} && chown agent {WORKDIR}
WORKDIR {WORKDIR}
"""

TEST_SH = f"""\
#!/bin/sh
# First the grade of no submission, reward 0. A verifier that cannot give it is broken whatever the agent did: it leaves
# no reward, so that the trial fails and is not a reward of 0. Only a complete grade replaces the 0.
rm -rf /logs/verifier/reward.txt /logs/verifier/reward.json
mkdir -p /logs/verifier
if ! python /tests/verify.py /tests/no-submission.csv /tests/answers.csv /logs/verifier; then
  rm -f /logs/verifier/reward.json
  echo '{{"mask_sample": true, "failure_kind": "verifier_error", "failure_reason": "verify.py itself fails"}}' \\
    > /logs/verifier/report.json
  exit 1
fi
python /tests/verify.py {WORKDIR}/submission.csv /tests/answers.csv /logs/verifier
exit 0
"""

VERIFY_PY = '''\
"""Grade the submission, and write reward.json and report.json. Usage: python verify.py SUBMISSION ANSWERS FOLDER."""

import json
import os
import sys

from grader import grade

submission, answers, folder = sys.argv[1:]
report = grade(submission, answers) | {"mask_sample": False, "failure_kind": None, "failure_reason": None}
reward = {"reward": report["reward"], "valid": int(report["valid"]), "medal": int(report["medal"] is not None)}
for name, content in (("report.json", report), ("reward.json", reward)):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as file:
        json.dump(content, file, allow_nan=False)
    os.replace(path + ".new", path)
print("valid" if report["valid"] else "invalid: " + "; ".join(report["problems"]))
'''

SOLVE_SH = f"""\
#!/bin/sh
cd {WORKDIR} && exec python /solution/solution.py
"""

HOW_TO_SUBMIT = f"""\
## How to submit

The working directory is `{WORKDIR}`. It holds the read-only folder `public`. Write `{WORKDIR}/submission.csv`. The file
that is there when you finish is graded once, on rows whose targets you cannot see. A file with missing, repeated or
unknown ids, other columns, or values that are not allowed has no score. There is no network.
"""

README = """\
# {dataset} {version} for Harbor

{count} in `tasks/`, each a Harbor task of schema 1.4 with a verifier in its own container. Run from this folder:

```
docker build -t {image} image
harbor run -p tasks -a oracle
```

The first command builds the image that all tasks share. Harbor then brings the files of each task into its container.

`tasks/dataset.toml` is the manifest of the dataset with the digest of each task. `registry.json` lists the tasks with
paths relative to this folder: `harbor run -d {dataset}@{version} --registry-path registry.json`.

Answers, grader and reference solution are in `tests/` and `solution/` of each task. They are in no image. Harbor
uploads `solution/` to the container of the agent `oracle` only. Agents must not be able to read these folders.
"""


def agent_requirements() -> str:
    """Return the pinned packages of the agent's interpreter."""
    return (files("sandmill.sandbox") / "requirements-agent.txt").read_text(encoding="utf-8")


def image_name() -> str:
    """Return the name of the image, with a tag that follows from its content."""
    return f"sandmill-agent:{sha256((DOCKERFILE + agent_requirements()).encode()).hexdigest()[:12]}"
