"""MS-MQDMPR 3.1.4.4 Transaction Commit: a commit takes effect completely; no effect is visible before it, and no crash
after it undoes an effect.
"""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import begin, commit, fill, receive, sent_messages, units

from reference_qm.surface.commands import AbortTransaction, CommitTransaction, PurgeQueue, SendMessage

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    """Return two hosts with stores; the first cannot reach the second yet."""
    a, b = Network().pair()
    b.reachable = False
    fill(a, LOCAL, "old")
    return a, b


def unit_of_work(a):
    """In a transaction, receive one message, send one message to a local queue and two messages to a remote queue;
    return the transaction.
    """
    unit = begin(a)
    receive(a, unit)
    a.send(LOCAL, b"new", transaction=unit)
    for body in (b"1", b"2"):
        a.send(REMOTE, body, transaction=unit)
    return unit


def waiting(a):
    return [
        position.MessagePosition.MessageReference.Body.decode()
        for queue in a.core.adm.OutgoingQueues.values()
        for position in queue.session.OutgoingMessageTable
        if not position.MessagePosition.is_disk_write_pending
    ]


def test_commit_has_no_visible_effect_before_it_is_on_disk(pair):
    a, _ = pair
    unit = unit_of_work(a)
    a.disk = "slow"
    a.begin(CommitTransaction(unit))
    assert (a.bodies(TRANSACTIONAL), waiting(a)) == ([], [])
    assert units(a)[0]["state"] == "ending"
    for request in (SendMessage(LOCAL, transaction=unit), CommitTransaction(unit), AbortTransaction(unit)):
        assert "is ending (MQ_ERROR_TRANSACTION_SEQUENCE)" in a.refusal(request)


@pytest.mark.parametrize(("written", "local", "remote"), [(0, ["old"], []), (1, ["new"], ["1", "2"])])
def test_crash_leaves_a_commit_whole_or_absent(pair, written, local, remote):
    a, b = pair
    unit = unit_of_work(a)
    a.disk = "slow"
    a.begin(CommitTransaction(unit))
    a.disk = "works"
    a.network.kill(a, written)
    assert (a.bodies(TRANSACTIONAL), waiting(a), units(a)) == (local, remote, [])
    b.reachable = True
    a.network.advance(60_000)
    assert b.bodies(TRANSACTIONAL) == remote


def test_a_commit_that_cannot_be_saved_leaves_the_transaction_open(pair):
    a, _ = pair
    unit = unit_of_work(a)
    a.disk = "broken"
    assert "could not be saved: disk full" in a.refusal(CommitTransaction(unit))
    assert units(a)[0]["state"] == "active"
    assert (a.bodies(TRANSACTIONAL), waiting(a)) == ([], [])
    a.disk = "works"
    commit(a, unit)
    assert (a.bodies(TRANSACTIONAL), waiting(a)) == (["new"], ["1", "2"])


def test_committed_messages_arrive_after_a_crash_of_their_sender(pair):
    a, b = pair
    commit(a, unit_of_work(a))
    a.network.kill(a)
    b.reachable = True
    a.network.advance(60_000)
    assert b.bodies(TRANSACTIONAL) == ["1", "2"]
    assert [(one.TransactionHeader.FM, one.TransactionHeader.LM) for one in sent_messages(a)] == [(1, 0), (0, 1)]


def test_messages_of_an_open_transaction_survive_a_purge(pair):
    a, _ = pair
    unit = begin(a)
    a.send(LOCAL, b"new", transaction=unit)
    assert a.ask(PurgeQueue(TRANSACTIONAL)) == {"purged": 1}
    commit(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["new"]
    a.network.kill(a)
    assert a.bodies(TRANSACTIONAL) == ["new"]
