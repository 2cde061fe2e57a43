"""MS-MQDMPR 3.1.1.1 (HardenedSecurity), 3.1.3: a queue manager that may use neither RPC nor anything but HTTP."""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct

from reference_qm.surface.commands import Configure


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def test_it_has_effect_after_a_restart(pair):
    a, b = pair
    assert a.ask(Configure(hardened_security=True))["hardened_security"] is True
    a.send(direct(2), b"before", recoverable=True)
    assert (b.bodies(), a.adm()["QueueManager"]["HardenedSecurity"]) == (["before"], False)
    a.restart()
    assert a.adm()["QueueManager"]["HardenedSecurity"] is True
