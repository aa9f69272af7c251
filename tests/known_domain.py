"""A domain for tests, bare or with knowledge of how its columns depend on each other."""

import yaml

from sandmill.models.domain import Domain
from tests.data import DATA

_DATA = yaml.safe_load((DATA / "known_domain.yaml").read_text("utf-8"))
BARE = Domain.model_validate({name: value for name, value in _DATA.items() if name != "knows"})
"""Without knowledge."""


def known_domain() -> Domain:
    """The same domain with knowledge."""
    return Domain.model_validate(_DATA)
