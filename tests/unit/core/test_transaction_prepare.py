"""MS-MQDMPR 3.1.4.3 Transaction Prepare: the boundaries of a transaction, MS-MQMQ 2.2.20.5."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import begin, fill, prepare, unit_of, units

from reference_qm.surface.commands import PrepareTransaction, ReceiveMessage, SendMessage

LOCAL, REMOTE, OTHER = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL), direct(3, TRANSACTIONAL)


@pytest.fixture
def hosts():
    network = Network()
    return [network.host(number) for number in (1, 2, 3)]


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
