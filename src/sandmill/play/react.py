"""A ReAct loop: a language model thinks, acts in an episode, and reads the result, until the episode ends."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from sandmill.errors import InputError, shorten
from sandmill.llm import ChatReply, RequestFailed
from sandmill.models.llm import Message
from sandmill.models.rollout import Operator, RolloutRecord, Usage
from sandmill.play.actions import FORMAT, Parsed, parse_message
from sandmill.play.env import MLEnv
from sandmill.play.observation import estimate_tokens

MOST_MISTAKES = 4
"""Messages without an action in one episode. One more ends it."""
_REQUESTS = 2
"""Attempts of a message, each with the retries of the client, while the server answers the opening of the episode."""
_PROBE_TOKENS = 16
_NO_TEXT = "(no text)"
"""Stands for an empty message, which some servers refuse in a conversation."""


class ChatModel(Protocol):
    """A language model that continues a conversation, such as `ChatClient`."""

    async def reply(
        self, messages: Sequence[Message], seed: int | None = None, most_tokens: int | None = None
    ) -> ChatReply:
        """Return the next message; see `ChatClient.reply`."""


class ReactAgent:
    """Plays one episode with a language model. Make one object for each episode."""

    def __init__(
        self,
        model: ChatModel,
        *,
        name: str = "",
        context_tokens: int | None = None,
        seed: int | None = None,
    ) -> None:
        """Prepare the agent. Without `context_tokens`, the server limits the conversation."""
        self._model, self._name, self._context, self._seed = model, name, context_tokens, seed
        self._messages: list[Message] = []
        self._counted = self._tokens = 0
        """Messages whose tokens the server has counted, and their tokens."""
        self._calls = self._formatted = self._mistakes = 0
        self._usage, self._error = Usage(usd=0.0), ""

    async def play(self, env: MLEnv, prompt: str, operator: Operator = Operator.DRAFT) -> RolloutRecord:
        """Play the episode of an environment that was reset, to its end.

        A full context ends the episode, and its latest valid submission is graded. So does a conversation that the
        server cannot answer while it answers the opening of the same episode: what the agent wrote or printed is the
        cause then. If the server does not answer the opening either, the rollout is masked. The prompt is the first
        message to the model, after the explanation of the format.

        Raises:
            SpendLimit: if the next request could cost more than what is left. The episode is not over.
            RequestFailed: if no request to the model can succeed, for example because the key is wrong.
        """
        self._messages = [Message(role="system", content=FORMAT), Message(role="user", content=prompt)]
        while env.rollout is None:
            if self._mistakes > MOST_MISTAKES or self._is_full():
                await env.stop()
            elif reply := await self._ask(env):
                self._counted = len(self._messages) + 1
                self._tokens = reply.usage.prompt_tokens + reply.usage.answer_tokens
                await self._act(env, parse_message(reply.text, reply.is_cut_off))
        rollout = env.rollout.model_copy(update={"model": self._name, "usage": self._usage})
        error = shorten(self._error, 500)
        return RolloutRecord(rollout=rollout, messages=tuple(self._messages), operator=operator, error=error)

    def _is_full(self) -> bool:
        """Whether the next request is too long. Tokens of messages that the server has not counted are estimated."""
        new = sum(estimate_tokens(message.content) for message in self._messages[self._counted :])
        return self._calls > 0 and self._context is not None and self._tokens + new > self._context

    async def _ask(self, env: MLEnv) -> ChatReply | None:
        """Return the next message. None if there is none: the episode is over then.

        The first message must come a little earlier than others, so that an episode without it can still be masked.
        """
        earlier_s = 0.0 if self._calls else env.limits.closing_s
        try:
            async with asyncio.timeout(env.left_s - earlier_s):
                found = await self._try_request()
        except TimeoutError:
            found, self._error = not self._calls, "" if self._calls else "no answer within the wall clock of an episode"
        if isinstance(found, ChatReply):
            return found
        await env.stop(is_fault=found)
        return None

    async def _try_request(self) -> ChatReply | bool:
        """Return the next message; without one, whether the server is at fault."""
        for attempt in range(_REQUESTS):
            try:
                return await self._request(self._messages)
            except RequestFailed as failure:
                is_fault, is_full = await self._is_fault(failure), failure.is_too_long
                if is_fault or is_full or attempt + 1 == _REQUESTS:
                    self._error = "" if is_full and not is_fault else str(failure)
                    break
        return is_fault

    async def _is_fault(self, failure: RequestFailed) -> bool:
        """Return whether the server is at fault for a failed request, and not what the agent wrote or printed.

        Before the first message of the agent, a refusal is a fault of the prompt or of the settings. Later, and after a
        time-out or an internal error, the server is asked for a few tokens after the opening of the episode, which
        holds nothing of the agent. Raises `RequestFailed` if no request to the model can succeed.
        """
        if failure.is_lasting and not self._calls:
            raise failure
        if failure.is_busy or not (self._calls or failure.is_transient):
            return True
        if failure.is_too_long:
            return False
        try:
            await self._request(self._messages[:2], _PROBE_TOKENS)
        except RequestFailed as other:
            if other.is_lasting:
                raise
            return True
        return False

    async def _request(self, messages: Sequence[Message], most_tokens: int | None = None) -> ChatReply:
        reply = await self._model.reply(messages, self._seed, most_tokens)
        used, more = self._usage, reply.usage
        self._usage = Usage(
            prompt_tokens=used.prompt_tokens + more.prompt_tokens,
            completion_tokens=used.completion_tokens + more.answer_tokens,
            seconds=used.seconds + reply.seconds,
            usd=None if used.usd is None or not reply.is_priced else round(used.usd + more.usd, 9),
        )
        return reply

    async def _act(self, env: MLEnv, parsed: Parsed) -> None:
        """Do the action of a message, and append both message and result to the conversation."""
        self._calls += 1
        self._formatted += parsed.is_formatted
        env.format_rate = self._formatted / self._calls
        text, is_mistake = parsed.error, parsed.act is None
        if parsed.act is not None:
            try:
                text, *_ = await env.step(parsed.act)
            except InputError as error:
                text, is_mistake = f"Error: {'; '.join(map(str, error.problems))}", True
        self._mistakes += is_mistake
        self._messages.append(Message(role="assistant", content=parsed.kept.strip() or _NO_TEXT))
        if text:
            self._messages.append(Message(role="user", content=f"<tool_response>\n{text}\n</tool_response>"))
