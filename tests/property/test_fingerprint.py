import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sandmill.fingerprint import FINGERPRINT_VERSION, canonical_json, fingerprint
from sandmill.models.request import BuildRequest
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from tests.designs import make_seed

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


def test_seeds_with_different_splits_have_different_fingerprints_and_an_undeclared_one_keeps_its_old_name():
    undeclared = make_seed(TargetKind.BINARY, MetricName.ROC_AUC)
    structures = [undeclared.structure.model_copy(update={"split": split}) for split in (None, *SplitKind)]
    seeds = [undeclared.model_copy(update={"structure": structure}) for structure in structures]
    assert len({fingerprint(seed) for seed in seeds}) == len(seeds)
    data = undeclared.model_dump(mode="json")
    data["structure"]["split"] = "random"
    del data["structure"]["kind"], data["guard"]  # added later
    text = canonical_json({"version": FINGERPRINT_VERSION, "kind": "SeedTask", "data": data})
    assert fingerprint(undeclared) == hashlib.sha256(text.encode()).hexdigest()


class Leaf(BaseModel):
    name: str
    added_later: int = 3


class Branch(BaseModel):
    one: Leaf
    some: tuple[Leaf, ...]
    named: dict[str, Leaf]


leaves = st.builds(Leaf, name=st.text(max_size=3), added_later=st.just(3) | st.integers())


@given(st.builds(Branch, one=leaves, some=st.lists(leaves, max_size=3), named=st.dictionaries(st.text(), leaves)))
def test_a_default_that_a_nested_model_got_later_renames_nothing(branch):
    def as_before(leaf):
        return {"name": leaf.name} | ({} if leaf.added_later == 3 else {"added_later": leaf.added_later})

    data = {
        "one": as_before(branch.one),
        "some": [as_before(leaf) for leaf in branch.some],
        "named": {name: as_before(leaf) for name, leaf in branch.named.items()},
    }
    text = canonical_json({"version": FINGERPRINT_VERSION, "kind": "Branch", "data": data})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandmill.fingerprint.LATER", {"Leaf": {"added_later": 3}})
        assert fingerprint(branch) == hashlib.sha256(text.encode()).hexdigest()
