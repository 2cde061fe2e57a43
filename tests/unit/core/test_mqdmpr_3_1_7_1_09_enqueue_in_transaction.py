"""MS-MQDMPR 3.1.7.1.9 Enqueue Message, with a transaction."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid
from core_transactions import abort, begin, commit, fill, receive, sent_messages, units

from reference_qm.surface.commands import CommitTransaction, ReceiveMessage, SendMessage

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    return Network().pair()


def test_nobody_sees_a_message_before_its_transaction_commits(pair):
    a, b = pair
    unit = begin(a)
    for to in (LOCAL, REMOTE):
        a.send(to, b"one", transaction=unit)
    assert units(a)[0]["operations"] == 2
    assert a.bodies(TRANSACTIONAL) == []
    assert receive(a) is None
    assert sent_messages(a) == []
    commit(a, unit)
    assert a.bodies(TRANSACTIONAL) == b.bodies(TRANSACTIONAL) == ["one"]


def test_a_message_in_a_transaction_is_transactional(pair):
    a, b = pair
    unit = begin(a)
    a.send(REMOTE, b"one", transaction=unit, priority=7)
    commit(a, unit)
    message = b.ask(ReceiveMessage(TRANSACTIONAL))["message"]
    assert (message["delivery"], message["priority"]) == ("transactional", 0)
    assert sent_messages(a)[0].UserHeader.DM


def test_a_message_that_is_not_committed_keeps_nobody_waiting(pair):
    """A message keeps its place in the queue; those behind it are received all the same (3.1.7.3.2)."""
    a, _ = pair
    unit = begin(a)
    a.send(LOCAL, b"first", transaction=unit)
    fill(a, LOCAL, "second", "third")
    assert receive(a) == "second"
    commit(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["first", "third"]


def test_who_waits_gets_a_message_when_it_is_committed(pair):
    a, _ = pair
    token = a.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000))
    unit = begin(a)
    a.send(LOCAL, b"one", transaction=unit)
    assert token not in a.answers
    commit(a, unit)
    assert a.answers[token].result.values["message"]["body"] == "one"


def test_all_messages_of_a_transaction_have_its_identifier_and_no_others(pair):
    """MS-MQMQ 2.2.20.5: Flags.ID."""
    a, _ = pair
    for _ in range(2):
        unit = begin(a)
        for body in (b"1", b"2"):
            a.send(REMOTE, body, transaction=unit)
        a.send(direct(2, "private$\\other"), b"3", transaction=unit)
        commit(a, unit)
    fill(a, REMOTE, "alone")
    by_unit = {}
    for one in sent_messages(a):
        by_unit.setdefault(one.TransactionHeader.ID, []).append(one.MessagePropertiesHeader.MessageBody)
    assert sorted(map(sorted, by_unit.values())) == [[b"1", b"2", b"3"], [b"1", b"2", b"3"], [b"alone"]]
    assert 0 not in by_unit


def test_messages_of_one_transaction_arrive_in_the_order_in_which_they_were_sent(pair):
    a, b = pair
    first, second = begin(a), begin(a)
    for number in range(3):
        a.send(REMOTE, f"a{number}".encode(), transaction=first)
        a.send(REMOTE, f"b{number}".encode(), transaction=second)
    commit(a, second)
    commit(a, first)
    assert b.bodies(TRANSACTIONAL) == ["b0", "b1", "b2", "a0", "a1", "a2"]
    headers = [one.TransactionHeader for one in sent_messages(a)]
    assert [one.TxSequenceNumber for one in headers] == [1, 2, 3, 4, 5, 6]
    assert len({one.TxSequenceID for one in headers}) == 1


def test_a_local_queue_must_be_transactional(pair):
    a, _ = pair
    unit = begin(a)
    assert "is a nontransactional queue" in a.refusal(SendMessage(direct(1, PLAIN), transaction=unit))
    assert units(a)[0]["operations"] == 0


def test_there_must_be_such_a_transaction(pair):
    a, _ = pair
    error = a.refusal(SendMessage(LOCAL, transaction=guid(7)))
    assert f"no transaction {guid(7)} here (MQ_ERROR_TRANSACTION_SEQUENCE): begin it first" in error


def test_operations_are_bounded():
    host = Network().host(1, max_transaction_operations=2)
    unit = begin(host)
    for body in (b"1", b"2"):
        host.send(LOCAL, body, transaction=unit)
    assert "has 2 operations already: commit it" in host.refusal(SendMessage(LOCAL, b"3", transaction=unit))
    commit(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1", "2"]


def test_uncommitted_messages_count_for_what_may_wait_to_be_sent():
    host = Network().host(1, max_outgoing_messages=2)
    unit = begin(host)
    for _ in range(2):
        host.send(REMOTE, transaction=unit)
    assert "2 messages wait to be sent already" in host.refusal(SendMessage(REMOTE, transactional=True))
    abort(host, unit)
    host.send(REMOTE, transactional=True)


def test_a_transaction_that_ended_takes_no_message(pair):
    a, _ = pair
    unit = begin(a)
    commit(a, unit)
    assert "MQ_ERROR_TRANSACTION_SEQUENCE" in a.refusal(SendMessage(LOCAL, transaction=unit))
    assert "MQ_ERROR_TRANSACTION_SEQUENCE" in a.refusal(CommitTransaction(unit))
