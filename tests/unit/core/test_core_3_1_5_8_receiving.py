"""MS-MQQB 3.1.5.8, 3.1.5.8.1, 3.1.5.8.4, 3.1.5.8.7: receiving messages, what is counted, what is acknowledged and when.

The timers: MS-MQQB 3.1.6.4, 3.1.6.7. The packets of messages: MS-MQQB 3.1.7.10, 3.1.7.11, MS-MQDMPR 3.1.7.1.31.
"""

import base64
from dataclasses import replace

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid, private
from core_raw import RAW, Raw, session_ack, user_message

from reference_qm.codec import PrivateQueueFormatNameId, SessionHeader, UserHeader, parse_packet
from reference_qm.surface.commands import PeekMessages, ReceiveMessage


@pytest.fixture
def raw():
    return Raw.open(Network().host(1))


def counts(raw):
    session = raw.session
    return (
        session["MessageReceivedCount"],
        session["RecoverableMessageReceivedCount"],
        session["UnackedReceivedMsgCount"],
    )


def test_a_message_arrives_with_its_properties():
    a, b = Network().pair()
    number = a.send(
        direct(2),
        b"\x00\xff",
        label="a label",
        priority=6,
        recoverable=True,
        acks=frozenset({"positive_arrival", "negative_receive"}),
        admin_queue=private(1, 5),
        response_queue="DIRECT=OS:elsewhere\\private$\\answers",
        journal=frozenset({"negative"}),
        application_tag=77,
        body_type=8,
        time_to_be_received_s=3600,
    )
    (message,) = b.ask(PeekMessages(PLAIN))["messages"]
    assert message["message_id"] == number == f"{{{guid(1)}}}\\1"
    assert message["class"] == "MQMSG_CLASS_NORMAL"
    assert (message["label"], message["priority"], message["delivery"]) == ("a label", 6, "recoverable")
    assert base64.b64decode(message["body_base64"]) == b"\x00\xff"
    assert message["body"] is None
    assert message["source"] == str(guid(1))
    assert message["acks"] == ["positive_arrival", "negative_receive"]
    assert message["admin_queue"] == f"PRIVATE={str(guid(1)).upper()}\\00000005"
    assert message["response_queue"] == "DIRECT=OS:elsewhere\\private$\\answers"
    assert message["destination"] == direct(2)
    assert message["journal"] == ["negative"]
    assert (message["application_tag"], message["body_type"]) == (77, 8)
    assert (message["time_to_be_received_s"], message["time_to_reach_queue_s"]) == (3_600, 4 * 86_400)
    assert message["sent_time"] == message["arrived_time"] == a.network.now.utc_s


def test_a_private_format_name_finds_the_queue_by_number():
    network = Network()
    a, b = network.host(1, routes={guid(2): "10.0.0.2"}), network.host(2)
    a.send(private(2, 1), b"by number")
    assert b.bodies() == ["by number"]
    packet = a.packets()[-1]
    assert packet.UserHeader.QueueManagerAddress == guid(2)
    assert (packet.UserHeader.DQ, packet.UserHeader.DestinationQueue) == (3, PrivateQueueFormatNameId(1))
    assert b.session()["DirectFormatSession"] is False


def test_a_direct_name_has_no_queue_manager_address():
    a, b = Network().pair()
    a.send(direct(2))
    header = a.packets()[-1].UserHeader
    assert (header.DQ, header.QueueManagerAddress.int) == (7, 0)
    assert header.DestinationQueue.DirectFormatName == f"TCP:10.0.0.2\\{PLAIN}"
    assert b.session()["DirectFormatSession"] is True


@pytest.mark.parametrize("prefix", ["", "DIRECT="])
def test_queue_names_are_found_in_any_case_and_form(raw, prefix):
    raw.feed(user_message(1, queue="PRIVATE$\\PLAIN"))
    message = user_message(2)
    name = type(message.UserHeader.DestinationQueue)(f"{prefix}TCP:127.0.0.1\\private$\\plain")
    raw.feed(user_message(2, DestinationQueue=name))
    assert len(raw.host.bodies()) == 2


def test_messages_are_in_order_of_arrival_within_priority(raw):
    for ordinal, priority in enumerate((3, 3, 7, 0, 7, 3), 1):
        raw.feed(user_message(ordinal, priority=priority, body=str(ordinal).encode()))
    assert raw.host.bodies() == ["3", "5", "1", "2", "6", "4"]


DISREGARDED = {
    "unknown queue": user_message(1, recoverable=True, queue="private$\\nothing"),
    "transactional queue": user_message(1, recoverable=True, queue=TRANSACTIONAL),
    "expired": user_message(1, recoverable=True, life_s=10, SentTime=1_800_000_000 - 11),
    "no destination": user_message(1, recoverable=True, Flags=UserHeader.flags(DM=1, MP=1), DestinationQueue=None),
}


@pytest.mark.parametrize("name", DISREGARDED)
def test_a_disregarded_message_is_counted_and_acknowledged(raw, name):
    raw.feed(DISREGARDED[name])
    assert counts(raw) == (1, 1, 1)
    raw.host.network.advance(600)
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (1, 1, 1)
    assert on_disk(raw) == ["history"]
    for queue in (PLAIN, TRANSACTIONAL):
        assert raw.host.bodies(queue) == []


def test_a_message_is_in_time_until_its_time_is_over(raw):
    raw.feed(user_message(1, life_s=10, SentTime=1_800_000_000 - 10))
    assert len(raw.host.bodies()) == 1


def test_a_message_that_is_not_taken_over_is_counted_but_not_flagged(raw):
    left = user_message(1, recoverable=True, QueueManagerAddress=guid(5))
    raw.feed(left, user_message(2, recoverable=True, body=b"taken"))
    assert counts(raw) == (2, 2, 2)
    assert (raw.host.bodies(), raw.host.bodies(TRANSACTIONAL)) == (["taken"], [])
    raw.host.network.advance(600)
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (2, 2, 1)
    raw.feed(left)
    raw.host.network.advance(20_000)
    assert raw.acks[-1].RecoverableMsgAckFlags == 0, "nor when it comes again"


# -- duplicates -------------------------------------------------------------------------------------------------


def test_a_duplicate_is_counted_and_discarded(raw):
    raw.feed(user_message(1, body=b"once"), user_message(1, body=b"twice"))
    assert raw.host.bodies() == ["once"]
    assert counts(raw) == (2, 0, 2)


def test_a_duplicate_of_an_earlier_session_is_discarded_and_acknowledged(raw):
    raw.feed(user_message(1, recoverable=True))
    again = Raw.open(raw.host)
    again.feed(user_message(1, recoverable=True))
    again.host.network.advance(600)
    assert len(raw.host.bodies()) == 1
    assert (again.acks[0].RecoverableMsgAckSeqNumber, again.acks[0].RecoverableMsgAckFlags) == (1, 1)


def test_the_same_ordinal_of_another_source_is_no_duplicate(raw):
    raw.feed(user_message(1, body=b"one"), user_message(1, body=b"other", SourceQueueManager=guid(8)))
    assert raw.host.bodies() == ["one", "other"]


def test_the_history_forgets_in_time(raw):
    raw.feed(user_message(1))
    raw.host.network.advance(2_000_000)
    Raw.open(raw.host).feed(user_message(2))
    raw.host.network.advance(1_600_000)
    assert len(raw.host.adm()["QueueManager"]["MessageIDHistoryTable"]) == 1
    Raw.open(raw.host).feed(user_message(1, body=b"forgotten"), user_message(2, body=b"remembered"))
    assert raw.host.bodies() == ["body", "body", "forgotten"]


def test_what_came_while_the_clock_was_fast_keeps_nothing_else_in_the_history(raw):
    """Spec: MS-MQQB 3.1.6.7."""
    network = raw.host.network
    right = network.now
    network.now = replace(right, utc_s=right.utc_s + 100_000)
    raw.feed(user_message(1))
    network.now = right
    raw.feed(user_message(2))
    network.advance(4_000_000)
    table = raw.host.adm()["QueueManager"]["MessageIDHistoryTable"]
    assert [entry["MessageIdentifier"]["Ordinal"] for entry in table] == [1]


# -- acknowledgments ---------------------------------------------------------------------------------------------


def test_express_messages_are_acknowledged_after_half_the_ack_timeout(raw):
    raw.feed(user_message(1), user_message(2))
    raw.host.network.advance(14_999)
    assert raw.acks == []
    raw.host.network.advance(1)
    assert raw.acks == [SessionHeader(AckSequenceNumber=2, WindowSize=64)]
    assert counts(raw) == (2, 0, 0)
    assert raw.session["timers"]["SessionAckSend"] is None
    raw.host.network.advance(100_000)
    assert len(raw.acks) == 1


def test_recoverable_messages_are_acknowledged_after_the_recoverable_timeout(raw):
    raw.feed(user_message(1), user_message(2, recoverable=True), user_message(3, recoverable=True))
    raw.host.network.advance(599)
    assert raw.acks == []
    raw.host.network.advance(1)
    assert raw.acks == [
        SessionHeader(AckSequenceNumber=3, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=3, WindowSize=64)
    ]
    session = raw.session
    assert (session["RecoverableMsgAckFlags"], session["LastAckedRecoverableMsgSeqNumber"]) == (0, 2)


def test_flags_begin_anew_with_every_acknowledgment(raw):
    for ordinal in range(1, 4):
        raw.feed(user_message(ordinal, recoverable=True))
        raw.host.network.advance(600)
    assert [(ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) for ack in raw.acks] == [
        (1, 1),
        (2, 1),
        (3, 1),
    ]


def test_the_acknowledgment_packet_is_internal(raw):
    raw.feed(user_message(1))
    raw.host.network.advance(15_000)
    packet = raw.last
    assert (packet.BaseHeader.IN, packet.BaseHeader.SH, packet.BaseHeader.TimeToReachQueue) == (1, 1, 0xFFFFFFFF)
    assert (packet.InternalHeader.PT, packet.InternalHeader.CS) == (1, 0)


def test_the_33rd_recoverable_message_has_the_first_32_acknowledged_at_once():
    raw = Raw.open(Network().host(1), WindowSize=200)
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 33)))
    assert raw.acks == []
    raw.feed(user_message(33, recoverable=True))
    (ack,) = raw.acks
    assert (ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (1, 0xFFFFFFFF)
    raw.host.network.advance(600)
    assert (raw.acks[1].RecoverableMsgAckSeqNumber, raw.acks[1].RecoverableMsgAckFlags) == (33, 1)


def test_a_full_window_of_the_sender_is_acknowledged_at_once():
    raw = Raw.open(Network().host(1), WindowSize=3)
    raw.feed(user_message(1), user_message(2))
    assert raw.acks == []
    raw.feed(user_message(3))
    assert [ack.AckSequenceNumber for ack in raw.acks] == [3]


def test_counts_wrap_at_sixteen_bits(raw):
    session = next(iter(raw.host.core.sessions.values()))
    session.MessageReceivedCount = session.RecoverableMessageReceivedCount = 0xFFFE
    session.LastAckedRecoverableMsgSeqNumber = 0xFFFE
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    assert counts(raw) == (1, 1, 3)
    raw.host.network.advance(600)
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (1, 0xFFFF, 7)


def on_disk(raw) -> list[str]:
    """Return the kinds of the entries that were written."""
    return [name.partition(":")[0] for persist in raw.host.persists for name in persist.record]


# -- disk --------------------------------------------------------------------------------------------------------


def test_a_recoverable_message_is_persisted_as_it_came(raw):
    packet = user_message(1, recoverable=True)
    raw.feed(packet)
    (persist,) = raw.host.persists
    message, _ = persist.record.values()
    assert message["in"] == "queue:1"
    assert parse_packet(base64.b64decode(message["packet"])) == parse_packet(packet.build())


def test_of_an_express_message_only_its_identifier_is_persisted(raw):
    raw.feed(user_message(1))
    assert on_disk(raw) == ["history"]


def test_a_message_is_neither_acknowledged_nor_received_before_it_is_on_disk(raw):
    raw.host.disk = "slow"
    raw.feed(user_message(1, recoverable=True, body=b"slow"))
    raw.feed(user_message(2, body=b"behind"))
    assert raw.host.ask(ReceiveMessage(PLAIN))["message"] is None, "order is kept"
    raw.host.network.advance(15_000)
    assert [(ack.AckSequenceNumber, ack.RecoverableMsgAckFlags) for ack in raw.acks] == [(2, 0)]
    raw.host.disk = "works"
    raw.host.network.settle_disk()
    raw.host.network.advance(600)
    assert (raw.acks[-1].RecoverableMsgAckSeqNumber, raw.acks[-1].RecoverableMsgAckFlags) == (1, 1)
    assert raw.host.ask(ReceiveMessage(PLAIN))["message"]["body"] == "slow"
    assert raw.host.bodies() == ["behind"]


def test_messages_that_wait_for_the_disk_are_acknowledged_as_received_once_for_each_window(raw):
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 201)))
    assert [(ack.AckSequenceNumber, ack.RecoverableMsgAckFlags) for ack in raw.acks] == [(64, 0), (128, 0), (192, 0)]


def test_flags_are_set_in_sequence_whatever_order_the_disk_answers_in(raw):
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    raw.host.network.settle_disk(lambda slow: slow[1:])
    raw.host.network.advance(15_000)
    assert {ack.RecoverableMsgAckFlags for ack in raw.acks} == {0}, "the first is not on disk"


def test_a_duplicate_of_a_message_on_its_way_to_disk_waits_with_it(raw):
    raw.host.disk = "slow"
    raw.feed(user_message(1, recoverable=True))
    again = Raw.open(raw.host)
    again.feed(user_message(1, recoverable=True))
    again.host.network.advance(15_000)
    assert [ack.RecoverableMsgAckFlags for ack in again.acks] == [0]
    raw.host.network.settle_disk()
    raw.host.network.advance(600)
    assert (again.acks[-1].RecoverableMsgAckSeqNumber, again.acks[-1].RecoverableMsgAckFlags) == (1, 1)
    assert len(raw.host.bodies()) == 1


def test_a_message_that_cannot_be_saved_is_forgotten_and_the_session_closed(raw):
    raw.host.disk = "broken"
    raw.feed(user_message(1, recoverable=True))
    assert "disk full" in raw.closed
    assert raw.host.bodies() == []
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(user_message(1, recoverable=True))
    assert len(raw.host.bodies()) == 1


def test_a_disk_that_stands_still_closes_the_session_before_numbers_repeat(raw, monkeypatch):
    monkeypatch.setattr("reference_qm.core.transfer.receiving.UNSAVED_LIMIT", 3)
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    assert raw.closed is None
    raw.feed(user_message(4))
    assert "wait for the disk" in raw.closed


# -- a SessionHeader on a message --------------------------------------------------------------------------------


def test_a_session_header_counts_the_message_that_carries_it(raw):
    raw.feed(
        user_message(
            1,
            recoverable=True,
            session=SessionHeader(UserMsgSequenceNumber=1, RecoverableMsgSeqNumber=1, WindowSize=64),
        )
    )
    assert raw.closed is None
    assert len(raw.host.bodies()) == 1


@pytest.mark.parametrize(("sent", "recoverable"), [(0, 0), (2, 0), (1, 1), (0xFFFF, 0)])
def test_wrong_counts_close_the_session_but_the_message_is_delivered(raw, sent, recoverable):
    header = SessionHeader(UserMsgSequenceNumber=sent, RecoverableMsgSeqNumber=recoverable, WindowSize=64)
    raw.feed(user_message(1, session=header))
    assert "3.1.5.5.5" in raw.closed
    assert len(raw.host.bodies()) == 1


def test_the_session_header_of_a_duplicate_is_processed_too():
    host = Network().host(1)
    raw = Raw.accepted(host)
    host.send(direct(9))
    raw.feed(user_message(1))
    header = SessionHeader(AckSequenceNumber=1, UserMsgSequenceNumber=2, WindowSize=64)
    raw.feed(user_message(1, session=header))
    assert raw.session["OutgoingMessageTable"] == []


def test_a_message_carries_the_acknowledgment_when_it_is_nearly_due():
    host = Network().host(1)
    raw = Raw.accepted(host)
    raw.feed(user_message(1), user_message(2, recoverable=True))
    host.send(direct(9), b"too early")
    assert raw.messages[-1].SessionHeader is None
    host.network.advance(376)
    host.send(direct(9), b"due", recoverable=True)
    packet = raw.messages[-1]
    assert packet.BaseHeader.SH == 1
    assert packet.SessionHeader == SessionHeader(
        AckSequenceNumber=2,
        RecoverableMsgAckSeqNumber=1,
        RecoverableMsgAckFlags=1,
        UserMsgSequenceNumber=2,
        RecoverableMsgSeqNumber=1,
        WindowSize=64,
    )
    assert counts(raw)[2] == 0
    host.network.advance(10_000)
    assert raw.acks == [], "nothing is left to acknowledge"


def test_the_source_of_a_message_is_kept(raw):
    raw.feed(user_message(7))
    (message,) = raw.host.ask(PeekMessages(PLAIN))["messages"]
    assert message["message_id"] == f"{{{RAW}}}\\7"


def test_an_ack_for_nothing_keeps_the_session(raw):
    raw.feed(session_ack())
    assert raw.closed is None
