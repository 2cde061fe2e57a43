"""MS-MQDMPR 3.1.4.3 Transaction Prepare: the boundaries of a transaction, MS-MQMQ 2.2.20.5."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import begin, commit, fill, prepare, receive, sent_messages, unit_of, units

from reference_qm.surface.commands import PrepareTransaction, ReceiveMessage, SendMessage

LOCAL, REMOTE, OTHER = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL), direct(3, TRANSACTIONAL)


def boundaries(packets):
    return [(bool(one.TransactionHeader.FM), bool(one.TransactionHeader.LM)) for one in packets]


@pytest.fixture
def hosts():
    network = Network()
    return [network.host(number) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("count", "marks"),
    [
        (1, [(True, True)]),
        (2, [(True, False), (False, True)]),
        (4, [(True, False), (False, False), (False, False), (False, True)]),
    ],
)
def test_the_first_and_the_last_message_are_marked(hosts, count, marks):
    a, b, _ = hosts
    unit = begin(a)
    for _ in range(count):
        a.send(REMOTE, transaction=unit)
    commit(a, unit)
    assert boundaries(sent_messages(a)) == marks
    arrived = [one.MessageReference for one in b.core.adm.QueueCollection[TRANSACTIONAL].MessagePositionList]
    assert [(one.FirstInTransaction, one.LastInTransaction) for one in arrived] == marks


def test_every_destination_has_a_first_and_a_last_message(hosts):
    a, _, _ = hosts
    unit = begin(a)
    for to in (REMOTE, OTHER, OTHER, REMOTE, OTHER):
        a.send(to, to.encode(), transaction=unit)
    commit(a, unit)
    two, three = [(True, False), (False, True)], [(True, False), (False, False), (False, True)]
    for to, marks in ((REMOTE, two), (OTHER, three)):
        ours = [one for one in sent_messages(a) if one.MessagePropertiesHeader.MessageBody == to.encode()]
        assert boundaries(ours) == marks


def test_what_is_received_is_no_boundary(hosts):
    """Printed is to mark the first operation, here a message of another transaction that is about to leave."""
    a, _, _ = hosts
    fill(a, LOCAL, "1", "2")
    unit = begin(a)
    receive(a, unit)
    for _ in range(2):
        a.send(REMOTE, transaction=unit)
    receive(a, unit)
    commit(a, unit)
    assert boundaries(sent_messages(a)) == [(True, False), (False, True)]


def test_a_prepared_transaction_takes_no_operation(hosts):
    a, _, _ = hosts
    fill(a, LOCAL, "1")
    unit = begin(a, external=True)
    prepare(a, unit)
    for request in (SendMessage(LOCAL, transaction=unit), ReceiveMessage(TRANSACTIONAL, transaction=unit)):
        assert "is prepared (MQ_ERROR_TRANSACTION_SEQUENCE): begin another one" in a.refusal(request)
    assert a.bodies(TRANSACTIONAL) == ["1"]


def test_who_prepares_takes_part_in_two_phases(hosts):
    a, _, _ = hosts
    unit = begin(a)
    prepare(a, unit)
    assert unit_of(a, unit).SinglePhase is False
    assert units(a)[0]["state"] == "prepared"
    assert "is prepared (MQ_ERROR_TRANSACTION_SEQUENCE)" in a.refusal(PrepareTransaction(unit))
