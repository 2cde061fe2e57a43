"""MS-MQQB 3.1.5.9, 3.1.6.1, 3.1.6.2, 3.1.7.3: closing, connecting again.

A message that connects: MS-MQQB 3.1.7.12. Starting, stopping, crashing: MS-MQQB 3.1.4, MS-MQDMPR 3.1.4.1, 3.1.4.2.
"""

import pytest
from core_network import PLAIN, Network, direct
from core_raw import Raw, session_ack, user_message

from reference_qm.core.store.disk import ORDINAL_BLOCK
from reference_qm.surface.commands import ReceiveMessage
from reference_qm.surface.effects import Rejected
from reference_qm.surface.inputs import Stopped


@pytest.fixture
def pair():
    return Network().pair()


def test_a_long_backlog_is_sent_after_a_reconnect():
    network = Network()
    a, b = network.pair(window_size=8)
    b.reachable = False
    for number in range(50):
        a.send(direct(2), str(number).encode(), recoverable=number % 2 == 0)
    b.reachable = True
    network.advance(5_000)
    network.advance(1_000)
    assert b.bodies() == [str(number) for number in range(50)]
    network.advance(20_000)
    assert a.session()["OutgoingMessageTable"] == []


def test_stopping_closes_every_session_and_answers_who_waits(pair):
    a, b = pair
    a.send(direct(2))
    token = a.begin(ReceiveMessage(PLAIN, timeout_ms=10_000))
    a.handle(Stopped())
    a.network.settle()
    assert isinstance(a.answers[token], Rejected)
    assert "3.1.4.2" in a.closed[-1].reason
    assert a.core.next_due() is None
    assert b.session()["SessionState"] == "CLOSED"


# -- crashes -----------------------------------------------------------------------------------------------------


def test_a_crash_leaves_what_must_survive(pair):
    a, b = pair
    b.reachable = False
    a.send(direct(2), b"express")
    a.send(direct(2), b"recoverable", recoverable=True)
    a.send(direct(1), b"here, express")
    a.send(direct(1), b"here, recoverable", recoverable=True)
    b.reachable = True
    a.restart()
    assert a.bodies() == ["here, recoverable"]
    assert b.bodies() == ["recoverable"], "Queue Manager Started connects"
    ordinal = int(a.send(direct(2), b"next").rpartition("\\")[2])
    assert 4 < ordinal <= 4 + ORDINAL_BLOCK, "MessageIdOrdinal survives"


def test_a_crash_forgets_messages_that_were_not_on_disk():
    host = Network().host(1)
    raw = Raw.open(host)
    host.disk = "slow"
    raw.feed(user_message(1, recoverable=True))
    host.disk = "works"
    host.restart()
    assert host.bodies() == []
    again = Raw.open(host)
    again.feed(user_message(1, recoverable=True))
    assert len(host.bodies()) == 1


def test_a_receiver_that_crashes_remembers_what_it_has(pair):
    a, b = pair
    a.send(direct(2), b"kept", recoverable=True)
    b.restart()
    a.network.advance(10_000)
    assert b.bodies() == ["kept"]
    assert a.session()["OutgoingMessageTable"] == []


def test_a_crash_ends_timers_and_sessions():
    host = Network().host(1)
    raw = Raw.open(host)
    host.restart()
    assert host.core.next_due() is None
    raw.feed(session_ack())
    assert host.closed == []


# -- durations ---------------------------------------------------------------------------------------------------
