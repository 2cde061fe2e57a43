"""MS-MQQB 3.1.5.8.10, 3.1.7.2.1: what is sent or received in a transaction is acknowledged when it commits."""

import pytest
from core_admin import ADMIN, classes, pair, send
from core_network import TRANSACTIONAL, direct
from core_transactions import abort, begin, commit, receive

from reference_qm.surface.commands import PurgeQueue

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def hosts():
    return pair()


def test_arrival_is_acknowledged_when_the_transaction_commits(hosts):
    a, _ = hosts
    for to in (LOCAL, REMOTE):
        unit = begin(a)
        send(a, "positive_arrival", to=to, transaction=unit)
        assert classes(a) == []
        commit(a, unit)
        assert classes(a) == ["ACK_REACH_QUEUE"]
        a.ask(PurgeQueue(ADMIN))


def test_nothing_is_acknowledged_of_what_is_not_sent(hosts):
    a, _ = hosts
    unit = begin(a)
    for to in (LOCAL, REMOTE):
        send(a, to=to, transaction=unit)
    abort(a, unit)
    a.network.advance(60_000)
    assert classes(a) == []


def test_receipt_is_acknowledged_when_the_transaction_commits(hosts):
    a, b = hosts
    send(a, "positive_receive", to=REMOTE, transactional=True)
    unit = begin(b)
    receive(b, unit)
    a.network.advance(60_000)
    assert classes(a) == []
    commit(b, unit)
    assert classes(a) == ["ACK_RECEIVE"]


def test_no_receipt_is_acknowledged_when_it_aborts_and_one_when_it_is_received_after_all(hosts):
    a, b = hosts
    send(a, "positive_receive", "negative_receive", to=REMOTE, transactional=True)
    unit = begin(b)
    receive(b, unit)
    abort(b, unit)
    a.network.advance(60_000)
    assert classes(a) == []
    receive(b)
    assert classes(a) == ["ACK_RECEIVE"]


@pytest.mark.parametrize(("end", "ack"), [(commit, "ACK_RECEIVE"), (abort, "NACK_Q_PURGED")])
def test_what_was_purged_meanwhile_is_acknowledged_once(hosts, end, ack):
    a, b = hosts
    send(a, "positive_receive", "negative_receive", to=REMOTE, transactional=True)
    unit = begin(b)
    receive(b, unit)
    b.ask(PurgeQueue(TRANSACTIONAL))
    assert classes(a) == []
    end(b, unit)
    a.network.advance(60_000)
    assert classes(a) == [ack]
