"""MS-MQQB 3.1.5.8.10, 3.1.7.2.1: messages sent or received in a transaction are acknowledged when it commits."""

import pytest
from core_admin import classes, pair, send
from core_network import TRANSACTIONAL, direct
from core_transactions import abort, begin

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def hosts():
    return pair()


def test_messages_of_aborted_transaction_are_not_acknowledged(hosts):
    a, _ = hosts
    unit = begin(a)
    for to in (LOCAL, REMOTE):
        send(a, to=to, transaction=unit)
    abort(a, unit)
    a.network.advance(60_000)
    assert classes(a) == []
