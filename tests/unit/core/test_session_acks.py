"""MS-MQQB 3.1.5.5, 3.1.5.5.1 to 3.1.5.5.5, 3.1.6.3: how a sender processes acknowledgments, and their absence.

The messages that it sends, and their order: MS-MQQB 3.1.7.1, 3.1.7.1.2, 3.1.7.16, MS-MQDMPR 3.1.7.3.9.
"""

import pytest
from core_network import Network, direct, guid, private
from core_raw import Raw, establish, parameters, session_ack

from reference_qm.model.states import OutgoingQueueState

TO = direct(9)


@pytest.fixture
def raw():
    return Raw.accepted(Network().host(1))


def table(raw):
    return [position["SequenceNumber"] for position in raw.session["OutgoingMessageTable"]]


def send(raw, count, **fields):
    for number in range(count):
        raw.host.send(TO, str(number).encode(), **fields)


def test_sent_message_is_kept_until_its_session_ack(raw):
    send(raw, 1)
    (position,) = raw.session["OutgoingMessageTable"]
    assert position == {
        "MessageID": 1,
        "SequenceNumber": 1,
        "RecoverableSequenceNumber": 0,
        "TxSequenceNumber": 0,
        "AwaitingAck": True,
        "ReceivedSessionAck": False,
        "ReceivedOrderAck": False,
        "Transmitted": True,
    }
    assert raw.session["SessionActive"] is True
    raw.feed(session_ack(AckSequenceNumber=1))
    assert (table(raw), raw.session["UnAckedMessageCount"]) == ([], 0)


def test_express_messages_up_to_ack_sequence_number_are_deleted(raw):
    send(raw, 5)
    raw.feed(session_ack(AckSequenceNumber=3))
    assert (table(raw), raw.session["UnAckedMessageCount"]) == ([4, 5], 2)


def test_recoverable_message_is_kept_until_its_recoverable_flag_arrives(raw):
    send(raw, 2, recoverable=True)
    raw.feed(session_ack(AckSequenceNumber=2))
    assert (table(raw), raw.session["UnAckedMessageCount"]) == ([1, 2], 0)
    assert all(position["ReceivedSessionAck"] for position in raw.session["OutgoingMessageTable"])
    raw.feed(session_ack(AckSequenceNumber=2, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=3))
    assert table(raw) == []


@pytest.mark.parametrize(
    ("first", "flags", "left"),
    [
        (1, 0b1, [2, 3, 4]),
        (1, 0b1010, [3]),
        (2, 0b101, [1, 3]),
        (3, 0b1, [1, 2, 4]),
        (3, 0, [1, 2, 4]),
        (0, 0, [1, 2, 3, 4]),
        (0, 0b10, [2, 3, 4]),
        (4, 0xFFFFFFFF, [1, 2, 3]),
        (0xFFFF, 0b100, [2, 3, 4]),
    ],
)
def test_bit_k_deletes_only_message_with_number_plus_k(raw, first, flags, left):
    send(raw, 4, recoverable=True)
    raw.feed(session_ack(AckSequenceNumber=4, RecoverableMsgAckSeqNumber=first, RecoverableMsgAckFlags=flags))
    assert [one["RecoverableSequenceNumber"] for one in raw.session["OutgoingMessageTable"]] == left


def test_unsent_messages_are_not_acknowledged(raw):
    raw.host.core.adm.OutgoingQueues[TO.lower()].State = OutgoingQueueState.DISCONNECTED
    send(raw, 2)
    raw.feed(session_ack())
    assert len(table(raw)) == 2
    assert not any(position["ReceivedSessionAck"] for position in raw.session["OutgoingMessageTable"])


@pytest.mark.parametrize("number", [1, 2, 0xFFFF])
def test_acknowledgment_of_unsent_message_closes_session_without_deletion(raw, number):
    send(raw, 0 if number == 1 else 1)
    before = table(raw)
    raw.feed(session_ack(AckSequenceNumber=number))
    assert "SessionHeader.AckSequenceNumber" in raw.closed
    assert len(table(raw)) == len(before)


def test_session_acks_are_understood_across_the_wrap_of_numbers(raw):
    session = raw.host.core.adm.OutgoingQueues[TO.lower()].session
    session.MessageSentCount = session.RecoverableMessageSentCount = 0xFFFE
    send(raw, 4, recoverable=True)
    assert table(raw) == [0xFFFF, 0, 1, 2]
    raw.feed(session_ack(AckSequenceNumber=0, RecoverableMsgAckSeqNumber=0xFFFF, RecoverableMsgAckFlags=1))
    assert (table(raw), raw.session["UnAckedMessageCount"]) == ([0, 1, 2], 2)
    raw.feed(session_ack(AckSequenceNumber=2, RecoverableMsgAckSeqNumber=0, RecoverableMsgAckFlags=0b111))
    assert table(raw) == []


@pytest.mark.parametrize(
    "header",
    [
        {"UserMsgSequenceNumber": 1},
        {"UserMsgSequenceNumber": 0xFFFF},
        {"RecoverableMsgSeqNumber": 1},
        {"UserMsgSequenceNumber": 1, "RecoverableMsgSeqNumber": 1},
    ],
)
def test_wrong_message_counts_in_session_header_close_the_session(raw, header):
    raw.feed(session_ack(**header))
    assert "3.1.5.5.5" in raw.closed


def test_wrong_counts_close_only_after_the_acknowledgment_was_taken(raw):
    send(raw, 2)
    raw.feed(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=9))
    assert raw.closed is not None
    assert len(table(raw)) == 1


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


def test_a_session_whose_messages_are_never_acknowledged_closes_at_the_second_expiry(raw):
    send(raw, 1)
    assert raw.session["timers"]["SessionAckWait"] == 40_000
    raw.host.network.advance(40_000)
    assert raw.closed is None, "packets had been received: those that set the session up"
    assert raw.session["ReceivedAck"] is False
    raw.host.network.advance(39_999)
    assert raw.closed is None
    raw.host.network.advance(1)
    assert "3.1.6.3" in raw.closed


def test_session_for_private_name_has_half_the_session_ack_wait_timeout():
    host = Network().host(1, routes={guid(9): "10.0.0.9"})
    raw = Raw.acceptor(host, private(9))
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=guid(9)), parameters())
    host.send(private(9))
    assert raw.session["timers"]["SessionAckWait"] == 20_000


def test_sent_message_is_numbered_among_all_and_among_recoverable_messages(raw):
    send(raw, 2)
    send(raw, 2, recoverable=True)
    numbers = [(one["SequenceNumber"], one["RecoverableSequenceNumber"]) for one in raw.session["OutgoingMessageTable"]]
    assert numbers == [(1, 0), (2, 0), (3, 1), (4, 2)]
    assert (raw.session["MessageSentCount"], raw.session["RecoverableMessageSentCount"]) == (4, 2)
