"""MS-MQDMPR 3.1.7.1.10 Dequeue Message, with a transaction."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct
from core_transactions import begin, commit, fill, receive

from reference_qm.surface.commands import PeekMessages, ReceiveMessage, RejectMessage

LOCAL = direct(1, TRANSACTIONAL)


@pytest.fixture
def host():
    host = Network().host(1)
    fill(host, LOCAL, "1", "2", "3")
    return host


def rejecting(unit: object, lookup_id: int) -> RejectMessage:
    return RejectMessage(TRANSACTIONAL, lookup_id, unit)


def taken(host, unit) -> int:
    lookup_id = host.ask(PeekMessages(TRANSACTIONAL))["messages"][0]["lookup_id"]
    receive(host, unit)
    return lookup_id


def test_only_what_an_open_transaction_received_is_rejected(host):
    unit, other = begin(host), begin(host)
    lookup_id = taken(host, unit)
    refused = [host.refusal(rejecting(other, lookup_id)), host.refusal(rejecting(unit, lookup_id + 1))]
    commit(host, unit)
    assert all("MQ_ERROR_TRANSACTION_USAGE" in one for one in refused)
    assert "no transaction" in host.refusal(rejecting(unit, lookup_id))


def test_the_queue_must_be_transactional(host):
    """MS-MQRR 3.1.4 and MS-MQMP refuse others with MQ_ERROR_TRANSACTION_USAGE."""
    error = host.refusal(ReceiveMessage(PLAIN, transaction=begin(host)))
    assert "MQ_ERROR_TRANSACTION_USAGE" in error


def test_operations_are_bounded():
    host = Network().host(1, max_transaction_operations=1)
    fill(host, LOCAL, "1", "2")
    unit = begin(host)
    receive(host, unit)
    assert "has 1 operations already" in host.refusal(ReceiveMessage(TRANSACTIONAL, transaction=unit))
