"""MS-MQDMPR 3.1.7.1.16 Move Message and 3.1.7.1.13 Read Message By Lookup Identifier, with a transaction."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit, fill, prepare

from reference_qm.surface.commands import (
    CreateQueue,
    DeleteQueue,
    MoveMessage,
    PeekMessages,
    PurgeQueue,
    ReadByLookupIdentifier,
    ReceiveMessage,
)

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)
SUB = TRANSACTIONAL + ";sub"


@pytest.fixture
def host():
    host = Network().host(1)
    host.ask(CreateQueue(SUB, transactional=True))
    fill(host, LOCAL, "1", "2", "3")
    return host


def lookup(host, body, queue=TRANSACTIONAL):
    messages = host.ask(PeekMessages(queue, 10))["messages"]
    return next(one["lookup_id"] for one in messages if one["body"] == body)


def move(host, body, unit):
    host.ask(MoveMessage(TRANSACTIONAL, lookup(host, body), SUB, transaction=unit))


def seen(host):
    return host.bodies(TRANSACTIONAL), host.bodies(SUB)


def test_message_moved_in_transaction_is_hidden_until_commit(host):
    unit = begin(host)
    move(host, "2", unit)
    assert seen(host) == (["1", "3"], [])
    commit(host, unit)
    assert seen(host) == (["1", "3"], ["2"])
    host.network.kill(host)
    assert seen(host) == (["1", "3"], ["2"])


@pytest.mark.parametrize("crash", [False, True])
def test_message_moved_in_aborted_transaction_stays_in_place(host, crash):
    unit = begin(host)
    move(host, "2", unit)
    if crash:
        host.network.kill(host)
    else:
        abort(host, unit)
    assert seen(host) == (["1", "2", "3"], [])


@pytest.mark.parametrize(("end", "after"), [(commit, (["1", "3"], ["2"])), (abort, (["1", "2", "3"], []))])
def test_a_prepared_move_survives_a_crash(host, end, after):
    unit = begin(host, external=True)
    move(host, "2", unit)
    prepare(host, unit)
    host.network.kill(host)
    assert seen(host) == (["1", "3"], [])
    end(host, unit)
    assert seen(host) == after
    host.network.kill(host)
    assert seen(host) == after


def test_a_message_moved_from_a_queue_that_was_purged_meanwhile_is_moved(host):
    unit = begin(host)
    move(host, "2", unit)
    host.ask(PurgeQueue(TRANSACTIONAL))
    commit(host, unit)
    assert seen(host) == ([], ["2"])
    host.network.kill(host)
    assert seen(host) == ([], ["2"])


def test_a_message_stays_when_the_queue_it_was_moved_to_is_deleted(host):
    unit = begin(host)
    move(host, "2", unit)
    host.ask(DeleteQueue(SUB))
    commit(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]
    host.network.kill(host)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]


def test_a_message_is_received_by_its_lookup_identifier_within_a_transaction(host):
    unit = begin(host)
    request = ReadByLookupIdentifier(lookup(host, "2"), queue=TRANSACTIONAL, transaction=unit)
    assert host.ask(request)["message"]["body"] == "2"
    assert host.bodies(TRANSACTIONAL) == ["1", "3"]
    assert "MQ_ERROR_TRANSACTION_USAGE" in host.refusal(request), "it is locked"
    abort(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]


def test_peek_in_a_transaction_is_refused(host):
    request = ReadByLookupIdentifier(seek="first", peek=True, queue=TRANSACTIONAL, transaction=begin(host))
    assert "MQ_ERROR_TRANSACTION_USAGE" in host.refusal(request)


def test_move_in_transaction_requires_transactional_queues(host):
    unit = begin(host)
    host.send(direct(1), b"plain", recoverable=True)
    number = lookup(host, "plain", PLAIN)
    host.ask(CreateQueue(PLAIN + ";sub"))
    for request in (
        MoveMessage(PLAIN, number, PLAIN + ";sub", transaction=unit),
        ReadByLookupIdentifier(number, queue=PLAIN, transaction=unit),
    ):
        assert "MQ_ERROR_TRANSACTION_USAGE" in host.refusal(request)
    assert host.bodies() == ["plain"]


def test_waiting_read_gets_message_of_first_operation_in_committed_transaction(host):
    for body in "123":
        host.ask(MoveMessage(TRANSACTIONAL, lookup(host, body), SUB))
    unit = begin(host)
    host.send(LOCAL, b"new", transaction=unit)
    host.ask(MoveMessage(SUB, lookup(host, "1", SUB), TRANSACTIONAL, transaction=unit))
    read = host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000))
    commit(host, unit)
    assert host.answers[read].result.values["message"]["body"] == "new"
    assert seen(host) == (["1"], ["2", "3"])
