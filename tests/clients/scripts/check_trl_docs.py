"""Run examples of the docs with a random model. Usage: check_trl_docs.py EXAMPLES RELEASE AGENT_ENV. Prints JSON."""

import json
import os
import re
import sys
from pathlib import Path

examples, release, agent_env = sys.argv[1:]
os.environ["SANDMILL_AGENT_ENV"] = agent_env

from tiny_model import make_model, make_tokenizer  # noqa: E402

tokenizer = make_tokenizer()
tokenizer.save_pretrained("tiny")
make_model(tokenizer).save_pretrained("tiny")

steps = []
space: dict = {}
for path in sorted(Path(examples).glob("*.py")):
    constants = f'RELEASE, MODEL, TOKENS = "{release}", "tiny", 16'
    code = re.sub(r"^RELEASE, MODEL, TOKENS = .*$", constants, path.read_text(), flags=re.MULTILINE)
    exec(code.replace("GRPOConfig(", "GRPOConfig(use_cpu=True, ", 2), space)
    logged = space["trainer"].state.log_history[0]
    steps.append({"step": logged["step"], "reward": float(logged["reward"]), "logged": sorted(logged)})
print(json.dumps(steps))
