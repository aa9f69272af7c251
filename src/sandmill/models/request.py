"""What to make and how to run it, and requests of the flows that look after releases.

The arguments, the Prefect run forms and the fingerprint come from these models.
"""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from sandmill.models.base import Band, Frozen
from sandmill.models.hints import ReadingLevel
from sandmill.models.kind import kind_named
from sandmill.models.names import DatasetName
from sandmill.models.release import Split

DEFAULT_MIX = {Band.EASY: 0.25, Band.MEDIUM: 0.4, Band.HARD: 0.25, Band.EXPERT: 0.1}
DEFAULT_READING: dict[ReadingLevel, float] = {"plain": 0.3, "prose": 0.4, "spread": 0.2, "contested": 0.1}
RUNNERS = ("threads", "dask")
"""Kinds of task runners. `dask` may be followed by the address of a cluster."""


class BuildRequest(Frozen):
    """What to make. Equal requests with equal secrets give equal bytes."""

    name: DatasetName
    """Dataset name, the folder under the root."""
    tasks: int = Field(default=12, ge=1, le=1_000_000)
    """Slots to fill with verified tasks."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Number that decides every draw, together with the release secret."""
    seeds: tuple[str, ...] = ()
    """Seed sources: cards, folders with a table, competition folders, folders of these. Default: bundled cards."""
    structures: Literal["all", "lite"] = "all"
    """Bundled seeds that take turns: all, or lite for the 22 structures of MLE-bench-lite. Not with --seeds."""
    mix: dict[Band, float] = DEFAULT_MIX
    """Wanted share of each difficulty band, such as easy=0.25,medium=0.4,hard=0.25,expert=0.1."""
    reading: dict[ReadingLevel, float] = DEFAULT_READING
    """Wanted share of each level at which tables state facts, from the medium band on. Easy ones state a plain fact."""
    kinds: dict[str, float] = {}
    """Wanted share of each kind of task, such as table=0.8,text=0.2. Default: seeds take turns, whatever their kind."""
    designer: Literal["grammar", "llm"] = "grammar"
    """Who designs: the grammar needs no model and no key; llm asks the models of --model."""
    model: tuple[str, ...] = ()
    """Language models as LiteLLM names them, such as openai/gpt-4o-mini; the next is asked if one fails."""
    repairs: int = Field(default=2, ge=0, le=10)
    """Times that each role of the llm designer may mend its answer."""
    max_tokens: int = Field(default=6000, ge=16, le=100_000)
    """Tokens of one answer of a language model at most; a longer answer is cut off and cannot be used."""
    replicates: int = Field(default=1, ge=1, le=16)
    """Renderings of each design, with fresh rows, ids and thresholds."""
    held_out: float = Field(default=0.08, ge=0, le=0.5)
    """Share of domains held out from training, beside one motif; 0 holds out nothing, so that all tasks can train."""

    @model_validator(mode="after")
    def _models_are_for_the_llm_designer(self) -> "BuildRequest":
        if (self.designer == "llm") != bool(self.model):
            raise ValueError("--designer llm and --model need each other")
        return self

    @model_validator(mode="after")
    def _structures_choose_among_bundled_seeds(self) -> "BuildRequest":
        if self.structures != "all" and self.seeds:
            raise ValueError("--structures chooses among the bundled seeds; leave out --seeds")
        return self

    @field_validator("mix", "reading")
    @classmethod
    def _shares_in_order(cls, shares: dict[Any, float], info: ValidationInfo) -> dict[Any, float]:
        _require_shares(shares)
        order = Band if info.field_name == "mix" else get_args(ReadingLevel)
        return {name: shares[name] for name in order if shares.get(name, 0) > 0}

    @field_validator("kinds")
    @classmethod
    def _shares_of_kinds(cls, kinds: dict[str, float]) -> dict[str, float]:
        for name in kinds:
            kind_named(name)
        if kinds:
            _require_shares(kinds)
        return {name: kinds[name] for name in sorted(kinds) if kinds[name] > 0}


def _require_shares(shares: Mapping[Any, float]) -> None:
    if not all(share >= 0 for share in shares.values()) or not abs(sum(shares.values()) - 1) <= 1e-6:
        raise ValueError(f"shares must not be negative and must sum to 1; these sum to {sum(shares.values()):g}")


class Side(StrEnum):
    """Direction of tokens to and from a language model. Each has its own price."""

    INPUT = "input"
    OUTPUT = "output"


class RunSettings(Frozen):
    """How to run. Nothing here changes what is made."""

    root: str = "releases"
    """Where datasets live: a folder, or s3://bucket/prefix."""
    shard_size: int = Field(default=20, ge=1, le=1000)
    """Slots that one Prefect task run fills."""
    workers: int = Field(default_factory=lambda: max(1, os.cpu_count() or 1), ge=1, le=256)
    """Worker processes for designing, rendering and the panel."""
    task_runner: str = "threads"
    """Where shards are built: threads or dask on this machine, or a cluster, such as dask:tcp://host:8786."""
    shard_workers: int | None = Field(default=None, ge=1, le=256)
    """Worker processes of one shard on Dask. Default: half of --workers."""
    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Dollars that language models may cost this build, earlier runs included; what is finished is then published."""
    replay: str | None = None
    """Place of recorded replies, such as releases/micro/llm: no model is asked and no key is needed."""
    api_base: str | None = None
    """Address of a server with OpenAI's interface, for models named openai/...; keys come from the environment."""
    llm_calls: int = Field(default=8, ge=1, le=256)
    """Requests to language models at once."""
    llm_timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds that one request to a language model may take."""
    price: dict[Side, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = {}
    """Dollars for a million tokens of the model, where LiteLLM does not know them."""
    strict: bool = False
    """Publish only if every band of --mix got the slots that were asked for; otherwise the build fails."""
    accept_code_version: str | None = None
    """Version of the code whose finished but unpublished shards of this build are used; `none`: they are made again."""
    secret_file: Path | None = None
    """File with the release secret (at least 32 bytes). None: made once, kept under the private prefix."""
    sign_key: Path | None = None
    """File with an Ed25519 private key (PEM) that signs the certificate of the version, `qc.json`."""

    @field_validator("task_runner")
    @classmethod
    def _names_a_runner(cls, runner: str) -> str:
        name, colon, address = runner.partition(":")
        if name not in RUNNERS or (colon and (name == "threads" or not address.strip("/ "))):
            raise ValueError("must be threads, dask or dask:ADDRESS")
        return runner

    @field_validator("root")
    @classmethod
    def _names_a_place(cls, root: str) -> str:
        scheme, mark, place = root.partition("://")
        if not root.strip() or (mark and (scheme != "s3" or not place.strip("/"))):
            raise ValueError("must be a folder or s3://bucket/prefix")
        return root if root == "/" else root.rstrip("/")


class AuditRequest(Frozen):
    """What to verify again."""

    release: str = Field(min_length=1)
    """Dataset whose latest version is verified, such as releases/nightly or s3://bucket/releases/nightly."""
    rerun: int = Field(default=0, ge=0, le=100_000)
    """Tasks whose scripts and panel run again, other ones each week; 0 checks bytes and hashes alone."""


class RefreshRequest(Frozen):
    """Which curriculum to refresh, by which rollouts."""

    release: str = Field(min_length=1)
    """Dataset whose latest version is refreshed; the next version is published into it."""
    rollouts: tuple[str, ...] = Field(min_length=1)
    """Folders that `sandmill rollout` wrote, local or on S3, with rollouts of the latest version."""
    target: float = Field(default=0.5, gt=0, lt=1)
    """Solve rate that new tasks should have; a rollout solves a task with bronze or better."""
    tasks: int | None = Field(default=None, ge=1, le=1_000_000)
    """Tasks of the next version. Default: as many as now."""
    splits: tuple[Split, ...] = ("train",)
    """Splits whose tasks may be retired. Tasks of other splits stay, so that evaluations stay comparable."""
    least_rollouts: int = Field(default=4, ge=1)
    """Rollouts that a task needs before it may be retired. Tasks without rollouts stay."""
