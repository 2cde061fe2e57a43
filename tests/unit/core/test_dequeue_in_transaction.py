"""MS-MQDMPR 3.1.7.1.10 Dequeue Message, with a transaction."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid
from core_transactions import abort, begin, commit, fill, receive, units

from reference_qm.codec import MessageClass
from reference_qm.surface.commands import PeekMessages, ReceiveMessage, RejectMessage
from reference_qm.surface.effects import CommandCompleted, CommandRejected

LOCAL = direct(1, TRANSACTIONAL)


@pytest.fixture
def host():
    host = Network().host(1)
    fill(host, LOCAL, "1", "2", "3")
    return host


def test_message_received_in_a_transaction_is_hidden_from_others(host):
    one, other = begin(host), begin(host)
    assert [receive(host, one), receive(host, other), receive(host), receive(host, one)] == ["1", "2", "3", None]
    assert host.bodies(TRANSACTIONAL) == []


def test_received_message_leaves_its_queue_at_commit(host):
    unit = begin(host)
    receive(host, unit)
    assert len(host.core.adm.QueueCollection[TRANSACTIONAL].MessagePositionList) == 3
    commit(host, unit)
    assert len(host.core.adm.QueueCollection[TRANSACTIONAL].MessagePositionList) == 2
    assert host.bodies(TRANSACTIONAL) == ["2", "3"]


def test_received_message_returns_to_its_place_at_abort(host):
    one, other = begin(host), begin(host)
    receive(host, one), receive(host, other)
    abort(host, other)
    assert host.bodies(TRANSACTIONAL) == ["2", "3"]
    abort(host, one)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]


def rejecting(unit: object, lookup_id: int) -> RejectMessage:
    return RejectMessage(TRANSACTIONAL, lookup_id, unit)


def receive_first(host, unit) -> int:
    lookup_id = host.ask(PeekMessages(TRANSACTIONAL))["messages"][0]["lookup_id"]
    receive(host, unit)
    return lookup_id


def test_rejected_message_leaves_its_queue_with_reason_rejected(host):
    unit = begin(host)
    host.ask(rejecting(unit, receive_first(host, unit)))
    (operation,) = host.core.adm.TransactionCollection[unit].TransactionalOperationCollection
    assert operation.DequeueReason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED
    commit(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["2", "3"]


def test_only_messages_received_in_an_open_transaction_can_be_rejected(host):
    unit, other = begin(host), begin(host)
    lookup_id = receive_first(host, unit)
    refused = [host.refusal(rejecting(other, lookup_id)), host.refusal(rejecting(unit, lookup_id + 1))]
    commit(host, unit)
    assert all("MQ_ERROR_TRANSACTION_USAGE" in one for one in refused)
    assert "no transaction" in host.refusal(rejecting(unit, lookup_id))


def test_pending_read_gets_message_of_aborted_transaction(host):
    unit = begin(host)
    for _ in range(3):
        receive(host, unit)
    token = host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000))
    assert token not in host.answers
    abort(host, unit)
    assert host.answers[token].result.values["message"]["body"] == "1"
    assert host.bodies(TRANSACTIONAL) == ["2", "3"]


def test_a_waiting_receive_takes_its_message_into_its_transaction():
    host = Network().host(1)
    unit = begin(host)
    token = host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000, transaction=unit))
    fill(host, LOCAL, "1")
    assert host.answers[token].result.values["message"]["body"] == "1"
    assert units(host)[0]["operations"] == 1
    abort(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1"]


@pytest.mark.parametrize("end", [commit, abort])
def test_a_receive_that_waits_within_a_transaction_ends_with_it(end):
    host = Network().host(1)
    unit = begin(host)
    token = host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000, transaction=unit))
    end(host, unit)
    assert isinstance(host.answers[token], CommandRejected)
    assert "ended while the command waited for a message" in host.answers[token].error
    fill(host, LOCAL, "1")
    assert host.bodies(TRANSACTIONAL) == ["1"]


def test_receive_in_transaction_ends_after_its_timeout(host):
    unit = begin(host)
    for _ in range(3):
        receive(host, unit)
    token = host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000, transaction=unit))
    host.network.advance(999)
    assert token not in host.answers
    host.network.advance(1)
    assert isinstance(host.answers[token], CommandCompleted)
    assert host.answers[token].result.values["message"] is None


def test_receive_in_transaction_requires_transactional_queue(host):
    """A transactional receive from a nontransactional queue is refused, as in MS-MQRR 3.1.4 and MS-MQMP, with
    MQ_ERROR_TRANSACTION_USAGE.
    """
    error = host.refusal(ReceiveMessage(PLAIN, transaction=begin(host)))
    assert "MQ_ERROR_TRANSACTION_USAGE" in error


def test_receive_in_unknown_transaction_is_refused(host):
    assert "MQ_ERROR_TRANSACTION_SEQUENCE" in host.refusal(ReceiveMessage(TRANSACTIONAL, transaction=guid(7)))
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]


def test_number_of_receives_in_a_transaction_is_limited():
    host = Network().host(1, max_transaction_operations=1)
    fill(host, LOCAL, "1", "2")
    unit = begin(host)
    receive(host, unit)
    assert "already has 1 operations" in host.refusal(ReceiveMessage(TRANSACTIONAL, transaction=unit))
