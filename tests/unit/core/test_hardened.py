"""MS-MQDMPR 3.1.1.1 (HardenedSecurity), 3.1.3: a hardened queue manager uses no RPC, and no transport other
than HTTP.
"""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct

from reference_qm.surface.commands import Configure


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def hardened(host: Host, value: bool) -> None:
    host.ask(Configure(hardened_security=value))
    host.restart()


def states(host: Host) -> list[str]:
    return [one["State"] for one in host.adm()["OutgoingQueues"]]


def test_hardened_security_has_effect_after_restart(pair):
    a, b = pair
    assert a.ask(Configure(hardened_security=True))["hardened_security"] is True
    a.send(direct(2), b"before", recoverable=True)
    assert (b.bodies(), a.adm()["QueueManager"]["HardenedSecurity"]) == (["before"], False)
    a.restart()
    assert a.adm()["QueueManager"]["HardenedSecurity"] is True


def test_hardened_security_locks_outgoing_queues(pair):
    a, b = pair
    hardened(a, True)
    a.send(direct(2), b"locked", recoverable=True)
    a.network.advance(60_000)
    assert (states(a), b.bodies()) == (["Locked"], [])
    a.restart()
    assert states(a) == ["Locked"]
    hardened(a, False)
    a.network.advance(60_000)
    assert (states(a), b.bodies()) == (["Connected"], ["locked"])


def test_hardened_security_refuses_sessions(pair):
    a, b = pair
    hardened(a, True)
    b.send(direct(1), b"for nobody", recoverable=True)
    b.network.advance(60_000)
    assert a.bodies() == []
