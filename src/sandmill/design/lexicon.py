"""Load the domains that are part of the library."""

from functools import cache
from importlib.resources import files

import yaml

from sandmill.models.domain import Domain

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""YAML loader: the C version if PyYAML has it, since every worker process reads all domains."""


@cache
def load_domains() -> tuple[Domain, ...]:
    """Return all domains of the library, sorted by name."""
    folder = files("sandmill.design").joinpath("domains")
    texts = (path.read_text() for path in folder.iterdir() if path.name.endswith(".yaml"))
    return tuple(
        sorted((Domain.model_validate(yaml.load(text, _Loader)) for text in texts), key=lambda domain: domain.name)
    )
