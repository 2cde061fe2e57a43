"""MS-MQQB 3.1.5.5, 3.1.5.5.1 to 3.1.5.5.5, 3.1.6.3: what a sender does with acknowledgments and their absence.

What it sends, and in which order: MS-MQQB 3.1.7.1, 3.1.7.1.2, 3.1.7.16, MS-MQDMPR 3.1.7.3.9.
"""

import pytest
from core_network import Network, direct, guid, private
from core_raw import Raw, establish, parameters, session_ack

TO = direct(9)


@pytest.fixture
def raw():
    return Raw.accepted(Network().host(1))


def table(raw):
    return [position["SequenceNumber"] for position in raw.session["OutgoingMessageTable"]]


def send(raw, count, **fields):
    for number in range(count):
        raw.host.send(TO, str(number).encode(), **fields)


@pytest.mark.parametrize("number", [1, 2, 0xFFFF])
def test_an_acknowledgment_of_what_was_not_sent_closes_and_deletes_nothing(raw, number):
    send(raw, 0 if number == 1 else 1)
    before = table(raw)
    raw.feed(session_ack(AckSequenceNumber=number))
    assert "SessionHeader.AckSequenceNumber" in raw.closed
    assert len(table(raw)) == len(before)


def test_acknowledgments_are_understood_across_the_wrap(raw):
    session = raw.host.core.adm.OutgoingQueues[TO.lower()].session
    session.MessageSentCount = session.RecoverableMessageSentCount = 0xFFFE
    send(raw, 4, recoverable=True)
    assert table(raw) == [0xFFFF, 0, 1, 2]
    raw.feed(session_ack(AckSequenceNumber=0, RecoverableMsgAckSeqNumber=0xFFFF, RecoverableMsgAckFlags=1))
    assert (table(raw), raw.session["UnAckedMessageCount"]) == ([0, 1, 2], 2)
    raw.feed(session_ack(AckSequenceNumber=2, RecoverableMsgAckSeqNumber=0, RecoverableMsgAckFlags=0b111))
    assert table(raw) == []


# -- the window --------------------------------------------------------------------------------------------------


def test_no_more_than_the_window_is_sent_unacknowledged():
    raw = Raw.accepted(Network().host(1, window_size=3))
    send(raw, 10)
    assert len(raw.messages) == 3
    raw.feed(session_ack(AckSequenceNumber=2))
    assert len(raw.messages) == 5
    raw.feed(session_ack(AckSequenceNumber=5))
    assert [packet.MessagePropertiesHeader.MessageBody for packet in raw.messages] == [b"%d" % n for n in range(8)]


# -- the absence of acknowledgments -----------------------------------------------------------------------------


def test_a_session_for_a_private_name_waits_half_as_long():
    host = Network().host(1, routes={guid(9): "10.0.0.9"})
    raw = Raw.acceptor(host, private(9))
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=guid(9)), parameters())
    host.send(private(9))
    assert raw.session["timers"]["SessionAckWait"] == 20_000
