"""Play many episodes with one language model over one sandbox, and store each rollout when it is finished."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from sandmill.errors import NoAnswer, SandmillError, SpendLimit
from sandmill.llm import ChatClient, ChatReply, RequestFailed
from sandmill.models.base import OnProgress
from sandmill.models.llm import Message
from sandmill.models.rollout import Operator, Rollout, RolloutRecord, RolloutSettings
from sandmill.play.env import MLEnv
from sandmill.play.operators import OperatorChoice, OperatorMix, add_parents, check_descriptions, choose_operator
from sandmill.play.react import ReactAgent
from sandmill.play.task import AsyncCodeRunner
from sandmill.store.rollouts import Key, RolloutFolder

if TYPE_CHECKING:
    from sandmill.play.release import Release

_FIRST_FAILURES = 3
"""Episodes without any answer from the model, from its first request on, after which the batch gives up."""
_MOST_SEED = 2**31 - 1


@dataclass
class BatchEnd:
    """How a batch ended."""

    played: int = 0
    """Rollouts that this run stored."""
    kept: int = 0
    """Rollouts of this selection that were there before."""
    errors: dict[Key, str] = field(default_factory=dict)
    """Episodes that could not be played, for example because files of their task are damaged."""
    spend_limit: str = ""
    """Message of the spending limit, if it ended the batch."""


class _Watched:
    """Passes messages to a model, and remembers whether it ever gave a whole answer."""

    def __init__(self, model: ChatClient) -> None:
        self._model, self.has_answered = model, False

    async def reply(
        self, messages: Sequence[Message], seed: int | None = None, most_tokens: int | None = None
    ) -> ChatReply:
        answer = await self._model.reply(messages, seed, most_tokens)
        self.has_answered |= most_tokens is None
        return answer


class RolloutBatch:
    """Rollouts of some tasks of a release, several of each. A second run continues the first."""

    def __init__(
        self,
        release: "Release",
        task_ids: Sequence[str],
        samples: int,
        settings: RolloutSettings,
        *,
        model: ChatClient,
        sandbox: AsyncCodeRunner,
        folder: RolloutFolder,
        concurrency: int = 8,
        parents: Sequence[Rollout] = (),
        splits: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a batch of so many samples of each task, and read what is finished already in the folder.

        `concurrency` episodes are played at a time. Prompts may show `parents`, earlier rollouts, if
        `settings.operators` asks for it; `splits` names the split of each task that has parents. An `InputError` says
        that other settings made the folder, or that a description is too long.
        """
        folder.check(settings)
        check_descriptions({task_id: release.prompt(task_id) for task_id in task_ids})
        self._release, self._settings, self._folder = release, settings, folder
        self._client, self._model, self._sandbox = model, _Watched(model), sandbox
        self._concurrency = concurrency
        self._parents, self._splits = tuple(parents), splits or {}
        finished = folder.finished()
        wanted = [(task_id, sample) for task_id in task_ids for sample in range(samples)]
        # Masked rollouts are played again.
        self._todo = [key for key in wanted if finished.get(key, True)]
        self._total = len(wanted)
        self._run_name = secrets.token_hex(6)
        self._held: list[RolloutRecord] = []
        self._saving = asyncio.Lock()
        self.end = BatchEnd(kept=self._total - len(self._todo))
        # Consecutive episodes share the files of a task.
        self._task = lru_cache(maxsize=concurrency + 1)(release.task)
        self._choice = lru_cache(maxsize=concurrency + 1)(self._choose)

    async def run(self, progress: OnProgress = lambda _done, _total: None) -> BatchEnd:
        """Play all episodes that are not finished. Faults of single episodes do not end the batch.

        Raises `NoAnswer` if the model cannot be asked at all. Nothing was written if it never answered.
        """
        jobs = iter(self._todo)
        workers = [asyncio.create_task(self._work(jobs, progress)) for _ in range(min(self._concurrency, self._total))]
        progress(self.end.kept, self._total)
        try:
            # gather raises the first exception at once.
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*workers, return_exceptions=True)
            self._write_spent()
        if self._held:
            self._give_up(self._held[-1].error)
        await asyncio.to_thread(self._folder.compact)
        return self.end

    async def _work(self, jobs: Iterator[Key], progress: OnProgress) -> None:
        for task_id, sample in jobs:
            if self.end.spend_limit:
                return
            try:
                record = await self._play(task_id, sample)
            except SpendLimit as error:
                self.end.spend_limit = str(error)
                return
            except RequestFailed as failure:
                self._give_up(str(failure))
            except SandmillError as error:
                self.end.errors[task_id, sample] = str(error)
                continue
            await self._keep(record)
            progress(self.end.kept + self.end.played, self._total)

    async def _play(self, task_id: str, sample: int) -> RolloutRecord:
        settings, task, seed = self._settings, self._task(task_id), self._settings.seed
        if seed is not None:
            # Samples of a task differ and can be repeated.
            seed = int.from_bytes(sha256(f"{seed}/{task_id}/{sample}".encode()).digest()[:4]) & _MOST_SEED
        env = MLEnv(
            task,
            reward=settings.reward,
            limits=settings.limits,
            sandbox=self._sandbox,
            sample=sample,
            explains=True,
        )
        async with env:
            prompt, _ = await env.reset()
            choice = self._choice(task_id)
            agent = ReactAgent(
                self._model,
                name=settings.model,
                context_tokens=settings.context_tokens,
                seed=seed,
            )
            return await agent.play(env, add_parents(task_id, prompt, choice), choice.operator)

    def _choose(self, task_id: str) -> OperatorChoice:
        if not self._settings.operators:
            return OperatorChoice(Operator.DRAFT)
        return choose_operator(
            self._task(task_id),
            seed=self._settings.seed or 0,
            split=self._splits.get(task_id),
            stored=self._parents,
            mix=OperatorMix.model_validate(self._settings.operators),
        )

    async def _keep(self, record: RolloutRecord) -> None:
        """Store a rollout. Those without any answer wait until the model has answered once."""
        self._held.append(record)
        if not self._model.has_answered:
            if len(self._held) >= _FIRST_FAILURES:
                self._give_up(record.error)
            return
        held, self._held = self._held, []
        async with self._saving:
            await asyncio.to_thread(self._save, held)
        self.end.played += len(held)

    def _save(self, records: Sequence[RolloutRecord]) -> None:
        self._folder.begin(self._settings)
        for record in records:
            self._folder.save(record)
        self._write_spent()

    def _write_spent(self) -> None:
        """Store what this run has paid, also for episodes that were not finished."""
        if self._model.has_answered:
            self._folder.begin(self._settings)
            self._folder.note_spent(self._run_name, self._client.budget.paid.usd)

    def _give_up(self, error: str) -> None:
        kept = "Finished rollouts are kept." if self._model.has_answered else "Nothing was written."
        cause = f"{self._settings.model}: {error.rstrip('.')}"
        raise NoAnswer(f"{cause}. Check --model, --base-url and the API key. {kept}")
