"""MS-MQDMPR 3.1.7.1.8 Create Transaction, MS-MQMP 3.1.4.14."""

import pytest
from core_network import Network
from core_transactions import abort, begin, units

from reference_qm.surface.commands import BeginTransaction


def test_open_transactions_are_bounded():
    host = Network().host(1, max_transactions=2)
    unit = begin(host)
    begin(host)
    assert "2 transactions are open already: commit or abort one" in host.refusal(BeginTransaction())
    abort(host, unit)
    begin(host)


@pytest.mark.parametrize("external", [False, True])
def test_a_crash_ends_what_is_not_prepared(external):
    """MS-MQDMPR 3.1.3 aborts all non-DTC transactions; one that has not voted is aborted by its coordinator."""
    for network in (Network(), Network()):
        host = network.host(1)
        begin(host, external=external)
        host.restart()
        assert units(host) == []
    begin(host, external=external)
    host.network.kill(host)
    assert units(host) == []
