import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.fingerprint import canonical_json, fingerprint
from sandmill.models.request import BuildRequest

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), plain, max_size=6))
def test_key_order_does_not_change_a_fingerprint(data):
    assert fingerprint(data) == fingerprint(dict(reversed(data.items())))
    assert json.loads(canonical_json(data)) == data


@given(st.integers(1, 10**6), st.integers(0, 2**62), st.text("abc", min_size=1, max_size=5))
def test_a_request_is_known_by_what_it_makes_and_not_by_its_name(tasks, seed, name):
    request = BuildRequest(name="one", tasks=tasks, seed=seed)
    assert fingerprint(request) == fingerprint(request.model_copy(update={"name": name, "seeds": ("x.yaml",)}))
    assert fingerprint(request) != fingerprint(request.model_copy(update={"seed": seed + 1}))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_have_no_fingerprint(number):
    with pytest.raises(ValueError, match="JSON compliant"):
        fingerprint({"x": number})
