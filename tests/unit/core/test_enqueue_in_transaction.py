"""MS-MQDMPR 3.1.7.1.9 Enqueue Message, with a transaction."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit, units

from reference_qm.surface.commands import SendMessage

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    return Network().pair()


def test_local_queue_of_transactional_send_must_be_transactional(pair):
    a, _ = pair
    unit = begin(a)
    assert "is a nontransactional queue" in a.refusal(SendMessage(direct(1, PLAIN), transaction=unit))
    assert units(a)[0]["operations"] == 0


def test_number_of_sends_in_a_transaction_is_limited():
    host = Network().host(1, max_transaction_operations=2)
    unit = begin(host)
    for body in (b"1", b"2"):
        host.send(LOCAL, body, transaction=unit)
    assert "already has 2 operations: commit it" in host.refusal(SendMessage(LOCAL, b"3", transaction=unit))
    commit(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1", "2"]


def test_uncommitted_messages_count_to_limit_of_outgoing_messages():
    host = Network().host(1, max_outgoing_messages=2)
    unit = begin(host)
    for _ in range(2):
        host.send(REMOTE, transaction=unit)
    assert "2 messages are already waiting to be sent" in host.refusal(SendMessage(REMOTE, transactional=True))
    abort(host, unit)
    host.send(REMOTE, transactional=True)
