"""MS-MQDMPR 3.1.4.3 Transaction Prepare: the bits for the first and last message of a transaction, MS-MQMQ 2.2.20.5."""

import pytest
from core_admin import ADMIN, classes, send
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit, fill, prepare, receive, unit_of, units

from reference_qm.surface.commands import CreateQueue, PrepareTransaction, PurgeQueue, ReceiveMessage, SendMessage

LOCAL, REMOTE, OTHER = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL), direct(3, TRANSACTIONAL)


@pytest.fixture
def hosts():
    network = Network()
    return [network.host(number) for number in (1, 2, 3)]


def test_prepared_transaction_refuses_further_operations(hosts):
    a, _, _ = hosts
    fill(a, LOCAL, "1")
    unit = begin(a, external=True)
    prepare(a, unit)
    for request in (SendMessage(LOCAL, transaction=unit), ReceiveMessage(TRANSACTIONAL, transaction=unit)):
        assert "is prepared (MQ_ERROR_TRANSACTION_SEQUENCE): begin a new transaction" in a.refusal(request)
    assert a.bodies(TRANSACTIONAL) == ["1"]


def test_prepare_sets_single_phase_of_transaction_to_false(hosts):
    a, _, _ = hosts
    unit = begin(a)
    prepare(a, unit)
    assert unit_of(a, unit).SinglePhase is False
    assert units(a)[0]["state"] == "prepared"
    assert "is prepared (MQ_ERROR_TRANSACTION_SEQUENCE)" in a.refusal(PrepareTransaction(unit))


@pytest.mark.parametrize("purged_first", [True, False])
@pytest.mark.parametrize(("decide", "reason"), [(commit, "ACK_RECEIVE"), (abort, "NACK_Q_PURGED")])
def test_prepared_operations_survive_purge_and_restart(hosts, decide, reason, purged_first):
    a, _, _ = hosts
    a.ask(CreateQueue(ADMIN))
    send(a, to=LOCAL, body=b"1", transactional=True)
    a.ask(PurgeQueue(ADMIN))
    unit = begin(a, external=True)
    assert receive(a, unit) == "1"
    steps = [lambda: a.ask(PurgeQueue(TRANSACTIONAL)), lambda: prepare(a, unit)]
    for step in steps if purged_first else reversed(steps):
        step()
    a.restart()
    assert units(a) == [{"transaction": str(unit), "state": "prepared", "operations": 1}]
    decide(a, unit)
    a.restart()
    assert a.bodies(TRANSACTIONAL) == []
    assert classes(a) == [reason]
