"""Fixtures of the tests of the library, which these tests share."""

from tests.conftest import once_a_session, small_release

__all__ = ["once_a_session", "small_release"]
