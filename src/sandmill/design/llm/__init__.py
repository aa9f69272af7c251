"""Design by language models: four roles choose words, magnitudes and motifs, and code checks every answer."""

from sandmill.design.llm.designer import MONEY_SPENT, Designed, LlmDesigner, Refused
from sandmill.design.llm.strategist import KnownDomain

__all__ = ["MONEY_SPENT", "Designed", "KnownDomain", "LlmDesigner", "Refused"]
