"""MS-MQQB 3.1.5.9, 3.1.6.1, 3.1.6.2, 3.1.7.3: sessions are closed and reconnected.

A new message opens a connection: MS-MQQB 3.1.7.12. The queue manager starts, stops and crashes: MS-MQQB 3.1.4,
MS-MQDMPR 3.1.4.1, 3.1.4.2.
"""

import pytest
from core_network import PLAIN, Network, direct
from core_raw import Raw, session_ack, user_message

from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.store.disk import RESERVED_ORDINAL_COUNT
from reference_qm.surface.commands import OpenSession, ReceiveMessage
from reference_qm.surface.effects import CommandRejected
from reference_qm.surface.inputs import QueueManagerStopped

TO = direct(9)


@pytest.fixture
def pair():
    return Network().pair()


def test_a_session_without_messages_closes_for_good():
    host = Network().host(1)
    raw = Raw.accepted(host)
    raw.lose()
    assert raw.session["SessionState"] == "CLOSED"
    assert set(raw.session["timers"].values()) == {None}
    assert host.adm()["OutgoingQueues"][0]["State"] == "Disconnected"
    assert raw.closed is None, "a lost transport needs no closing"


def test_session_with_unacknowledged_messages_reconnects_and_sends_them_again():
    host = Network().host(1)
    raw = Raw.accepted(host)
    host.send(TO, b"express")
    host.send(TO, b"recoverable", recoverable=True)
    raw.lose()
    assert raw.session["SessionState"] == "WAITING_RECONNECT"
    assert raw.session["timers"]["SessionRetryConnect"] == 5_000
    host.network.advance(5_000)
    again = Raw.next_acceptor(host)
    assert again.session["timers"]["SessionRetryConnect"] is not None
    assert isinstance(again.last, EstablishConnectionPacket)
    again.accept()
    first, second = raw.messages, again.messages
    assert [packet.UserHeader.MessageID for packet in second] == [1, 2]
    assert first == second, "the same messages under the same identifiers"
    session = again.session
    assert (session["MessageSentCount"], session["RecoverableMessageSentCount"]) == (2, 1)
    assert session["UnAckedMessageCount"] == 2


def test_retry_timer_has_no_effect_while_session_opens():
    host = Network().host(1)
    raw = Raw.accepted(host)
    host.send(TO)
    raw.lose()
    host.network.advance(5_000)
    again = Raw.next_acceptor(host)
    host.network.advance(5_000)
    again.accept()
    host.network.advance(20_000)
    assert len(host.connects) == 2
    assert again.closed is None


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


@pytest.mark.parametrize("lost", ["messages", "acknowledgments"])
def test_messages_in_flight_at_connection_loss_arrive_once(pair, lost):
    a, b = pair
    a.ask(OpenSession(direct(2)))
    broken = a if lost == "messages" else b
    broken.tamper = lambda data: None
    for number in range(4):
        a.send(direct(2), str(number).encode(), recoverable=True)
    a.network.advance(1_000)
    assert len(b.bodies()) == (0 if lost == "messages" else 4)
    broken.tamper = lambda data: data
    a.network.cut(a)
    a.network.advance(10_000)
    assert b.bodies() == ["0", "1", "2", "3"]
    assert a.session()["OutgoingMessageTable"] == []


def test_refused_connection_refuses_the_open_session_command(pair):
    a, b = pair
    b.reachable = False
    assert "connection refused" in a.refusal(OpenSession(direct(2)))


def test_stop_closes_all_sessions_and_answers_pending_requests(pair):
    a, b = pair
    a.send(direct(2))
    token = a.begin(ReceiveMessage(PLAIN, timeout_ms=10_000))
    a.handle(QueueManagerStopped())
    a.network.settle()
    assert isinstance(a.answers[token], CommandRejected)
    assert "3.1.4.2" in a.closed[-1].reason
    assert a.core.next_due() is None
    assert b.session()["SessionState"] == "CLOSED"


# -- crashes -----------------------------------------------------------------------------------------------------


def test_recoverable_messages_survive_a_crash(pair):
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
    assert 4 < ordinal <= 4 + RESERVED_ORDINAL_COUNT, "MessageIdOrdinal survives"


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


def test_crashed_receiver_discards_duplicates_of_its_messages(pair):
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
