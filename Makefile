# Every command sets itself up: a virtual environment in .venv, pinned by constraints.txt.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
export PREFECT_HOME ?= $(CURDIR)/.prefect
RUN := env -u PYTHONDONTWRITEBYTECODE -u MAKEFLAGS -u MFLAGS DO_NOT_TRACK=1 PREFECT_SERVER_ANALYTICS_ENABLED=false $(BIN)
PORT ?= 4200
LEARN_RELEASE ?= releases/learn
LEARN_TASKS ?= 12
LEARN_TO ?= proof
# 640 scripts an arm and a short start, so that it ends in twenty minutes on two cores. The published table has 768 scripts,
# 800 steps of SFT, five seeds, five row draws and more baselines.
LEARN ?= --updates 10 --batch-tasks 8 --samples 1 --sft-steps 240 --draws 1
LEARN_BUILD ?= --mix medium=0.6,hard=0.4
# .ci/run builds half of it, so that it ends in time on slow machines.
DEMO_TASKS ?= 24
DEMO_KINDS := table=0.3333,table_keys=0.0833,json_rows=0.0833,text=0.0417,text_dated=0.0833,tokens_english=0.0833,tokens_russian=0.0417,image_archive=0.0417,image_labels=0.0417,image_grades=0.0417,image_fields=0.0833,audio_archive=0.0417
# Small kinds: the wheel carries these tasks. A test requires at most 3 MB; take another seed if they are larger.
SAMPLE_KINDS := table=0.4,text=0.2,tokens_english=0.2,image_labels=0.2
SAMPLE_SEED ?= 8
PREFECT_API_URL ?= http://127.0.0.1:$(PORT)/api
SERVER := PREFECT_API_URL=$(PREFECT_API_URL) $(RUN)/prefect

.PHONY: help setup agent-env demo say-demo demo-llm samples test test-slow test-llm test-clients test-learn learn lint schemas server deploy worker clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: .venv/.ready  ## Create .venv with pinned dependencies (uv when present, else pip)

.venv/.ready: pyproject.toml constraints.txt
	@echo "Installing the pinned packages of pyproject.toml into .venv: about 1.6 GB, two to ten minutes, once."
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv && \
	  uv pip install --quiet --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[pipeline,dev]'; \
	else \
	  $(PYTHON) -m venv .venv && \
	  env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pipeline,dev]'; \
	fi
	@touch $@

agent-env: setup  ## Make the interpreter that agents' code and reference solutions run in
	@$(RUN)/sandmill agent-env create >/dev/null

demo: say-demo agent-env  ## Build 24 verified tasks of 12 kinds into releases/micro
	@echo "Building $(DEMO_TASKS) tasks: three to ten minutes on two cores. A line tells how far it is; Ctrl-C stops it."
	@$(RUN)/python -m flows.build_release --name micro --tasks $(DEMO_TASKS) --seed 7 --root releases \
	  --kinds $(DEMO_KINDS)

say-demo:
	@echo "The demo installs packages (.venv, and an environment for agents' code; once) and builds $(DEMO_TASKS) tasks."
	@echo "The first time takes five to twenty-five minutes in all, and three to ten minutes later."

demo-llm: agent-env  ## Build 10 tasks of the llm designer from recorded replies, without a key
	@$(RUN)/python -m flows.build_release --name llm-demo --tasks 10 --seed 18 --designer llm --model openai/hand-written \
	  --replay demo/llm --root releases

samples: agent-env  ## Build the tasks again that come with the package, in src/sandmill/samples
	@$(RUN)/python -m flows.build_release --name samples --tasks 5 --seed $(SAMPLE_SEED) --root build --held-out 0 \
	  --mix easy=0.5,hard=0.5 --kinds $(SAMPLE_KINDS)
	@rm -rf src/sandmill/samples
	@$(RUN)/sandmill copy build/samples src/sandmill

learn: agent-env .venv/.learning  ## Train policies, score them on real tables (LEARN="--seeds 5")
	@ls $(LEARN_RELEASE)/versions/* >/dev/null 2>&1 || $(RUN)/python -m flows.build_release --name $(notdir $(LEARN_RELEASE)) \
	  --tasks $(LEARN_TASKS) --seed 20 --kinds table=1.0 --root $(patsubst %/,%,$(dir $(LEARN_RELEASE))) $(LEARN_BUILD)
	@$(RUN)/python -m sandmill_learn.proof --release $(LEARN_RELEASE) --to $(LEARN_TO) $(LEARN)

.venv/.learning: .venv/.ready learn/pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv pip install --quiet --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[pipeline,dev]' -e ./learn; \
	else \
	  env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pipeline,dev]' -e ./learn; \
	fi
	@touch $@

lint: setup  ## Lint, strict types, import contract
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/mypy
	@PYTHONPATH=src:learn/src:. $(RUN)/lint-imports --no-cache

test: agent-env lint  ## Lint and the fast tests
	@echo "Running the fast tests: six to thirty minutes on two cores."
	@$(RUN)/python -m pytest -m "not slow and not llm and not clients" -n 2 --dist loadgroup

test-slow: agent-env  ## What takes longer: builds, servers, attacks, clean installs
	@$(RUN)/python -m pytest -m "slow and not llm and not clients"
	@SANDMILL_EXAMPLES=100 $(RUN)/python -m pytest -m "not slow" tests/property
	@$(RUN)/python -m pytest learn/tests

test-learn: agent-env .venv/.learning  ## The tests of learn/, those of training too
	@$(RUN)/python -m pytest learn/tests

test-llm: agent-env  ## Drive the llm designer with a small language model of our own (LLM_PYTHON has transformers[serving])
	@$(RUN)/python -m pytest -m llm tests/pipeline/test_small_model.py

test-clients: agent-env  ## Check exports and adapters with the real packages of trainers (CLIENT=harbor for one)
	@$(RUN)/python -m tests.clients.envs $(CLIENT)
	@$(RUN)/python -m pytest -m clients $(if $(CLIENT),$(CLIENT:%=tests/clients/test_%.py),tests/clients)

schemas: setup  ## Write schemas/ again from the models
	@$(RUN)/python -m sandmill.schemas schemas

server: setup  ## Run a local Prefect server with its UI (PORT=4200)
	@PREFECT_UI_API_URL=http://127.0.0.1:$(PORT)/api $(RUN)/prefect server start --port $(PORT)

deploy: setup  ## Create the work pool and the deployments of prefect.yaml (PREFECT_API_URL or PORT)
	@$(SERVER) work-pool inspect sandmill >/dev/null 2>&1 || $(SERVER) work-pool create sandmill --type process
	@SANDMILL_CLONE="$${SANDMILL_CLONE:-$(CURDIR)}" $(SERVER) --no-prompt deploy --all

worker: setup  ## Run deployed flows on this machine (PREFECT_API_URL or PORT)
	@$(SERVER) worker start --pool sandmill --type process

clean:  ## Remove the virtual environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
