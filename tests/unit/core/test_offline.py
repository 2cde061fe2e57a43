"""MS-MQDMPR 3.1.4.12, 3.1.4.13: leaving the network and coming back; MS-MQSO 5.1.1.1 ConnectionActive."""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct

from reference_qm.surface.commands import OpenSession, TakeOffline


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def test_a_session_that_is_wanted_offline_is_refused_in_one_line(pair):
    a, _ = pair
    a.ask(TakeOffline())
    assert a.refusal(OpenSession(direct(2))) == (
        "no session was opened: the queue manager is offline (MS-MQDMPR 3.1.4.12): bring it online"
    )
