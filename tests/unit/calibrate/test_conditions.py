"""Solvers run on one thread; after the block all is as before."""

from threadpoolctl import threadpool_info, threadpool_limits

from sandmill.calibrate.conditions import one_thread


def test_every_library_is_limited_within_the_block_alone():
    with one_thread():
        pass  # Loads the libraries, so that the limit below is set for all of them.
    with threadpool_limits(2):
        with one_thread():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert {library["num_threads"] for library in threadpool_info()} == {2}
