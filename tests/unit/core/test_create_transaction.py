"""MS-MQDMPR 3.1.7.1.8 Create Transaction, MS-MQMP 3.1.4.14."""

from uuid import UUID

import pytest
from core_network import Network
from core_transactions import abort, begin, commit, units

from reference_qm.surface.commands import BeginTransaction

UNIT = UUID("6d71636f-6e66-4f72-8d00-000000000001")


def test_a_transaction_is_in_the_collection_until_it_ends():
    host = Network().host(1)
    first, second = begin(host), begin(host, transaction=UNIT)
    assert second == UNIT != first
    assert units(host) == [{"transaction": str(unit), "state": "active", "operations": 0} for unit in (first, second)]
    commit(host, first)
    abort(host, second)
    assert units(host) == []


def test_a_transaction_that_exists_is_not_created_again():
    host = Network().host(1)
    begin(host, transaction=UNIT)
    assert "already exists (MQ_ERROR_TRANSACTION_SEQUENCE)" in host.refusal(BeginTransaction(UNIT))
    assert len(units(host)) == 1


def test_number_of_open_transactions_is_limited():
    host = Network().host(1, max_transactions=2)
    unit = begin(host)
    begin(host)
    assert "2 transactions are already open: commit or abort one of them" in host.refusal(BeginTransaction())
    abort(host, unit)
    begin(host)


@pytest.mark.parametrize("external", [False, True])
def test_crash_aborts_transactions_that_are_not_prepared(external):
    """A crash aborts all internal transactions (MS-MQDMPR 3.1.3), and the coordinator aborts an external transaction
    that has not voted.
    """
    for network in (Network(), Network()):
        host = network.host(1)
        begin(host, external=external)
        host.restart()
        assert units(host) == []
    begin(host, external=external)
    host.network.kill(host)
    assert units(host) == []
