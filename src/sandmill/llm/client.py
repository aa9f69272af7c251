"""One client for all questions: recorded replies first, then models in turn, within limits of time and money."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from sandmill.errors import NoAnswer, ReplayMiss
from sandmill.llm.budget import Budget
from sandmill.llm.cache import Recordings, request_key
from sandmill.llm.costs import Prices, count_tokens, most_it_can_cost, prices_of, usage_of
from sandmill.llm.keeper import Keeper
from sandmill.llm.provider import Answered, Fault, NoSuchForm, Passing, Wasted, complete
from sandmill.llm.structured import FORMS, read_json, wire_messages
from sandmill.models.llm import AnswerForm, LlmSettings, ModelChoice, Prompt, Reply, Usage

FIRST_WAIT_S = 0.5
"""Before the second try; doubled each time."""
LONGEST_WAIT_S = 60.0
"""A server that asks for more is passed over."""
APART_S = 0.004
"""Between the turns of two requests to begin. LiteLLM works for milliseconds before one is on the wire: of many that
begin together none is sent before all are prepared, and they would return and begin together from then on."""

Complete = Callable[[str, ModelChoice, LlmSettings, Prompt, AnswerForm], Awaitable[Answered]]


class LlmClient:
    """Answers prompts. Safe for many tasks of one event loop.

    Args:
        choice: models and parameters, part of every request's name.
        settings: how requests are sent.
        recordings: replies that were paid for already, and where new ones go.
        budget: money; none means no limit.
        given: dollars for a million tokens of `input` and `output`, in place of LiteLLM's table.
        send: what sends one request; LiteLLM unless a test says otherwise.
    """

    def __init__(
        self,
        choice: ModelChoice,
        settings: LlmSettings,
        recordings: Recordings,
        budget: Budget | None = None,
        given: Mapping[str, float] | None = None,
        send: Complete = complete,
    ) -> None:
        self._choice, self._settings, self._recordings, self._send = choice, settings, recordings, send
        self.budget = budget or Budget()
        self._keeper = Keeper(recordings, self.budget)
        self._given = given
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._next_start = 0.0
        self._known = recordings.keys()
        """Requests answered before; what another process records meanwhile is seen when it comes to be kept."""
        self._forms: dict[str, AnswerForm] = {}
        """Strictest form that each model's server has not refused."""
        self._asked: dict[str, asyncio.Future[Reply]] = {}

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer a prompt. Equal prompts that are asked at once are sent once.

        Raises:
            ReplayMiss: in replay, if the request is not recorded.
            SpendLimit: if the request could cost more than what is left.
            NoAnswer: if every model failed; says how each did.
        """
        keys = [request_key(model, self._choice, prompt) for model in self._choice.models]
        if keys[0] in self._asked:
            return (await asyncio.shield(self._asked[keys[0]])).model_copy(update={"is_recorded": True})
        self._asked[keys[0]] = future = asyncio.get_running_loop().create_future()
        try:
            reply = _with_value(await self._answer(prompt, keys))
            future.set_result(reply)
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # whoever waits for it hears it; if nobody does, that is no fault
            raise
        finally:
            del self._asked[keys[0]]
        return reply

    async def _answer(self, prompt: Prompt, keys: list[str]) -> Reply:
        if (known := next((key for key in keys if key in self._known), None)) and (
            found := await asyncio.to_thread(self._recordings.find, known)
        ):
            return found
        if self._settings.is_replay:
            models = " or ".join(self._choice.models)
            raise ReplayMiss(
                f"replay: no reply of {models} is recorded for {prompt.role}, {prompt.draw or '-'} "
                f"(request {keys[0][:12]}). The request, the models or the prompts differ from those of the recording."
            )
        failures: list[str] = []
        for model, key in zip(self._choice.models, keys, strict=True):
            try:
                reply = await self._ask_model(model, key, prompt)
            except Fault as fault:
                failures.append(f"{model}: {fault}")
                continue
            reply = reply.model_copy(update={"passed_over": tuple(failures)})
            kept = await self._keeper.keep(prompt, reply)
            self._known.add(reply.key)
            return kept
        raise NoAnswer("; ".join(failures))

    async def _ask_model(self, model: str, key: str, prompt: Prompt) -> Reply:
        """Ask one model in the strictest form that its server takes."""
        forms = FORMS[FORMS.index(self._forms.get(model, FORMS[0])) :]
        for form in forms:
            try:
                answered, usage = await self._try_again(model, key, prompt, form)
            except NoSuchForm:
                if form == forms[-1]:
                    raise
                continue
            if FORMS.index(form) > FORMS.index(self._forms.get(model, FORMS[0])):
                self._forms[model] = form
            return Reply(text=answered.text, model=model, form=form, usage=usage, key=key)
        raise AssertionError("unreachable: the last form returns or raises")

    async def _try_again(self, model: str, key: str, prompt: Prompt, form: AnswerForm) -> tuple[Answered, Usage]:
        """Send until it goes well, with growing waits, or as long as the server asks."""
        for attempt in range(self._settings.retries + 1):
            try:
                return await self._pay_for(model, key, prompt, form)
            except Passing as fault:
                is_last = attempt == self._settings.retries
                if is_last or (fault.after_s or 0.0) > LONGEST_WAIT_S:
                    if _may_be_the_form(fault, form):
                        raise NoSuchForm(str(fault)) from fault
                    raise
                await asyncio.sleep(fault.after_s if fault.after_s is not None else _wait(attempt, key))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _pay_for(self, model: str, key: str, prompt: Prompt, form: AnswerForm) -> tuple[Answered, Usage]:
        prices = prices_of(model, self._given)
        wasted = None
        most = most_it_can_cost(prompt, prices, self._choice.max_tokens)
        async with self._slots, self.budget.reserve(most):
            await self._stand_apart()
            try:
                answered = await self._send(model, self._choice, self._settings, prompt, form)
            except Wasted as fault:
                wasted, answered = fault, Answered("", fault.prompt_tokens, fault.answer_tokens)
            usage = _usage(prompt, form, answered, prices)
            self.budget.pay(usage)
        if wasted:
            await asyncio.to_thread(self.budget.note, key, [usage])
            raise wasted
        return answered, usage

    async def _stand_apart(self) -> None:
        """Wait for this request's turn to begin."""
        now = asyncio.get_running_loop().time()
        self._next_start = max(now, self._next_start + APART_S)
        await asyncio.sleep(self._next_start - now)


def _may_be_the_form(fault: Passing, form: AnswerForm) -> bool:
    """Some servers answer a form that they do not know with an internal error: a plainer one gets its chance."""
    is_internal = "InternalServerError" in str(fault) and "Connection error" not in str(fault)
    return is_internal and form != FORMS[-1]


def _wait(attempt: int, key: str) -> float:
    """Seconds until the next try, spread by the request's name, so that many that failed at once do not return so."""
    spread = 0.5 + int(key[:4], 16) / 0xFFFF
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * float(2**attempt) * spread)


def _usage(prompt: Prompt, form: AnswerForm, answered: Answered, prices: Prices) -> Usage:
    """What a request took as the server says, else as far as it can be told from the texts."""
    asked, written = answered.prompt_tokens, answered.answer_tokens
    if asked is None:
        asked = sum(count_tokens(message["content"]) for message in wire_messages(prompt, form))
    return usage_of(asked, count_tokens(answered.text) if written is None else written, prices)


def _with_value(reply: Reply) -> Reply:
    found = read_json(reply.text)
    return reply.model_copy(update={"problem": found} if isinstance(found, str) else {"value": found, "problem": ""})
