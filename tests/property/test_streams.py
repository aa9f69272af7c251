from hypothesis import given
from hypothesis import strategies as st

from sandmill.rng import Streams

secrets = st.binary(min_size=1, max_size=40)
names = st.text(max_size=20)


@given(secrets, names, st.integers(0, 500), st.integers(0, 60))
def test_a_row_draws_the_same_number_whatever_range_it_is_drawn_in(secret, name, start, length):
    streams = Streams(secret, "f")
    whole = streams.uniforms(name, range(start + length))
    assert streams.uniforms(name, range(start, start + length)).tolist() == whole[start:].tolist()


@given(secrets, secrets, names)
def test_streams_of_other_secrets_and_names_differ(one, other, name):
    if one.rstrip(b"\0") != other.rstrip(b"\0"):
        assert Streams(one, "f").key(name) != Streams(other, "f").key(name)
    assert Streams(one, "f").key(name) != Streams(one, "f").key(name + "x")
    assert Streams(one, "f").key(name) != Streams(one, "g").key(name)


@given(names)
def test_uniforms_stay_inside_the_open_interval(name):
    draws = Streams(b"s", "f").uniforms(name, range(1000))
    assert draws.min() > 0
    assert draws.max() < 1
