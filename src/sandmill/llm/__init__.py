"""Questions to language models over LiteLLM: recorded, budgeted, replayable. Imported by nobody but the build."""

from sandmill.llm.budget import Budget
from sandmill.llm.cache import Recordings
from sandmill.llm.client import LlmClient
from sandmill.llm.costs import Prices

__all__ = ["Budget", "LlmClient", "Prices", "Recordings"]
