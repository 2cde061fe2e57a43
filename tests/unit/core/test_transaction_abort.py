"""MS-MQDMPR 3.1.4.5 Transaction Abort: an aborted transaction has no lasting effect."""

import pytest
from core_network import TRANSACTIONAL, Network, direct, guid
from core_transactions import abort, begin, commit, fill, receive, units

from reference_qm.surface.commands import AbortTransaction

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    return Network().pair()


def test_abort_returns_received_messages_in_their_old_order(pair):
    a, _ = pair
    fill(a, LOCAL, "1", "2", "3", "4")
    unit = begin(a)
    receive(a, unit)
    assert receive(a) == "2"
    receive(a, unit)
    abort(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["1", "3", "4"]
    a.network.kill(a)
    assert a.bodies(TRANSACTIONAL) == ["1", "3", "4"]


def test_crash_returns_messages_received_in_a_transaction(pair):
    a, _ = pair
    fill(a, LOCAL, "1", "2")
    receive(a, begin(a))
    a.network.kill(a)
    assert (a.bodies(TRANSACTIONAL), units(a)) == (["1", "2"], [])


def test_transaction_abort_writes_nothing_to_disk(pair):
    a, _ = pair
    fill(a, LOCAL, "1")
    unit = begin(a)
    receive(a, unit)
    a.disk = "broken"
    abort(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["1"]


def test_abort_of_unknown_transaction_is_refused(pair):
    a, _ = pair
    assert "MQ_ERROR_TRANSACTION_SEQUENCE" in a.refusal(AbortTransaction(guid(7)))
    unit = begin(a)
    commit(a, unit)
    assert "MQ_ERROR_TRANSACTION_SEQUENCE" in a.refusal(AbortTransaction(unit))
