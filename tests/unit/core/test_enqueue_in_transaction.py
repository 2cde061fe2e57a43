"""MS-MQDMPR 3.1.7.1.9 Enqueue Message, with a transaction."""

from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit

from reference_qm.surface.commands import SendMessage

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


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
