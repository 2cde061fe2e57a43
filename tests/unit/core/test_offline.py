"""MS-MQDMPR 3.1.4.12, 3.1.4.13: the queue manager is taken offline and brought online; MS-MQSO 5.1.1.1
ConnectionActive.
"""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct

from reference_qm.surface.commands import OpenSession, TakeOffline


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def active(host: Host) -> bool:
    return bool(host.adm()["QueueManager"]["ConnectionActive"])


def test_going_offline_ends_every_session(pair):
    a, b = pair
    a.send(direct(2))
    b.send(direct(1))
    a.network.advance(20_000)
    a.ask(TakeOffline())
    assert active(a) is False
    assert {session["SessionState"] for session in a.adm()["Sessions"]} == {"CLOSED"}
    assert all("3.1.4.12" in one.reason for one in a.closed)


def test_offline_ping_response_refuses_sessions():
    a, b = Network().pair(send_ping=True)
    b.ask(TakeOffline())
    a.send(direct(2))
    assert b.sent_pings()[-1].RF == 1


def test_session_requested_offline_is_refused_in_one_line(pair):
    a, _ = pair
    a.ask(TakeOffline())
    assert a.refusal(OpenSession(direct(2))) == (
        "no session was opened: the queue manager is offline (MS-MQDMPR 3.1.4.12): bring it online"
    )
