"""Client for language models over LiteLLM: records every reply, limits the cost, replays. Only builds use it."""

from sandmill.llm.budget import Budget
from sandmill.llm.cache import Recordings
from sandmill.llm.client import LlmClient

__all__ = ["Budget", "LlmClient", "Recordings"]
