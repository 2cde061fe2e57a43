"""MS-MQDMPR 3.1.4.5 Transaction Abort: nothing of it is left."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, fill, receive, units

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    return Network().pair()


def test_what_was_received_is_there_again_after_a_crash(pair):
    a, _ = pair
    fill(a, LOCAL, "1", "2")
    receive(a, begin(a))
    a.network.kill(a)
    assert (a.bodies(TRANSACTIONAL), units(a)) == (["1", "2"], [])


def test_an_abort_needs_no_disk(pair):
    a, _ = pair
    fill(a, LOCAL, "1")
    unit = begin(a)
    receive(a, unit)
    a.disk = "broken"
    abort(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["1"]
