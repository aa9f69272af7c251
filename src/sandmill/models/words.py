"""Tables of words that texts and their checks read, from words.yaml."""

from importlib.resources import files
from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WORDS: dict[str, Any] = yaml.load((files("sandmill.models") / "words.yaml").read_text(encoding="utf-8"), _Loader)
