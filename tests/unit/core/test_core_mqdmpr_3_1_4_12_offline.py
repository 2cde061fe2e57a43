"""MS-MQDMPR 3.1.4.12, 3.1.4.13: leaving the network and coming back; MS-MQSO 5.1.1.1 ConnectionActive."""

from __future__ import annotations

import pytest
from core_network import PLAIN, Host, Network, direct
from core_raw import Raw, establish

from reference_qm.surface.commands import BringOnline, OpenSession, TakeOffline


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


def test_messages_sent_offline_wait_until_it_is_online(pair):
    a, b = pair
    a.ask(TakeOffline())
    a.send(direct(2), b"express")
    a.send(direct(2), b"recoverable", recoverable=True)
    a.network.advance(600_000)
    assert (a.connects, b.bodies()) == ([], [])
    a.ask(BringOnline())
    assert (active(a), b.bodies()) == (True, ["express", "recoverable"])


def test_what_a_session_had_not_delivered_is_delivered_when_it_is_online(pair):
    a, b = pair
    a.tamper = lambda data: None
    a.send(direct(2), b"unheard", recoverable=True)
    a.ask(TakeOffline())
    a.tamper = lambda data: data
    a.network.advance(600_000)
    assert b.bodies() == []
    a.ask(BringOnline())
    assert b.bodies() == ["unheard"]


def test_messages_to_local_queues_arrive_offline(pair):
    a, _ = pair
    a.ask(TakeOffline())
    a.send(direct(1), b"near")
    assert a.bodies(PLAIN) == ["near"]


def test_sessions_of_others_are_refused_offline(pair):
    a, b = pair
    a.ask(TakeOffline())
    raw = Raw.initiator(a)
    raw.feed(establish())
    assert raw.last.InternalHeader.CS == 1
    assert "offline" in raw.closed
    b.send(direct(1), b"later", recoverable=True)
    assert a.bodies() == []
    a.ask(BringOnline())
    a.network.advance(5_000)
    assert a.bodies() == ["later"]


def test_a_ping_says_offline_that_a_session_would_be_refused():
    a, b = Network().pair(send_ping=True)
    b.ask(TakeOffline())
    a.send(direct(2))
    assert b.sent_pings()[-1].RF == 1


def test_a_session_that_is_wanted_offline_is_refused_in_one_line(pair):
    a, _ = pair
    a.ask(TakeOffline())
    assert a.refusal(OpenSession(direct(2))) == (
        "no session was opened: the queue manager is offline (MS-MQDMPR 3.1.4.12): bring it online"
    )


def test_it_is_online_after_a_restart(pair):
    a, b = pair
    a.ask(TakeOffline())
    a.send(direct(2), b"kept", recoverable=True)
    a.restart()
    assert (active(a), b.bodies()) == (True, ["kept"])
