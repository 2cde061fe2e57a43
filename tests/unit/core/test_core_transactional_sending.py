"""MS-MQQB 3.1.1.5, 3.1.5.6, 3.1.5.7, 3.1.6.5, 3.1.7.1.3: what the sender of transactional messages does."""

import pytest
from core_network import Network, direct, guid
from core_ordering import SEQUENCE, final_ack, order_ack, ordering
from core_raw import Raw, session_ack

from reference_qm.codec import MessageClass, TxSequenceID
from reference_qm.surface.commands import SetTimers

TO = direct(9)
ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE
BAD_QUEUE = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


@pytest.fixture
def raw():
    return Raw.accepted(Network().host(1))


def send(raw, count, **fields):
    for number in range(count):
        raw.host.send(TO, str(number).encode(), transactional=True, **fields)


def acknowledge(raw):
    """Let the session acknowledge what was sent on it."""
    session = raw.session
    raw.feed(
        session_ack(
            AckSequenceNumber=session["MessageSentCount"],
            UserMsgSequenceNumber=session["MessageReceivedCount"],
            RecoverableMsgSeqNumber=session["RecoverableMessageReceivedCount"],
        )
    )


def numbers(packets):
    return [(one.TransactionHeader.TxSequenceNumber, one.TransactionHeader.PreviousTxSequenceNumber) for one in packets]


def table(raw):
    return [position["TxSequenceNumber"] for position in raw.session["OutgoingMessageTable"]]


def sequence(raw):
    return raw.session["TxOutgoingSequence"]


def unacked(raw):
    return [one["SeqNo"] for one in sequence(raw)["UnackedSequence"]]


def pending(raw, name="TransactionalAckWait"):
    return raw.session["timers"][name]


def test_messages_are_numbered_as_they_are_sent(raw):
    send(raw, 3, priority=7)
    assert numbers(raw.messages) == [(1, 0), (2, 1), (3, 2)]
    for place, packet in enumerate(raw.messages, 1):
        header, user = packet.TransactionHeader, packet.UserHeader
        assert (header.TxSequenceID, header.FM, header.LM, header.ID, header.FA) == (SEQUENCE, 1, 1, place, 0)
        assert (user.TH, user.DM, packet.BaseHeader.PR) == (1, 1, 0)
    assert (raw.session["OutgoingTxSequenceNumber"], unacked(raw)) == (4, [1, 2, 3])


def test_two_destinations_have_sequences_of_their_own():
    host = Network().host(1)
    ids = set()
    for number in (8, 9):
        host.network.by_hand.add(f"10.0.0.{number}")
        host.send(direct(number), transactional=True)
        ids.add(tuple(host.adm()["Sessions"][-1]["OutgoingTxSequenceID"].values()))
    assert len(ids) == 2


def test_a_session_acknowledgment_alone_does_not_delete(raw):
    send(raw, 2)
    raw.feed(session_ack(AckSequenceNumber=2, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=3))
    assert table(raw) == [1, 2]
    assert raw.session["UnAckedMessageCount"] == 0


def test_a_late_order_ack_does_not_let_the_session_be_closed(raw):
    send(raw, 1)
    acknowledge(raw)
    raw.host.network.advance(29_000)
    assert raw.closed is None


@pytest.mark.parametrize("session_first", [True, False])
def test_whichever_acknowledgment_comes_last_deletes(raw, session_first):
    send(raw, 3)
    steps = [lambda: acknowledge(raw), lambda: raw.feed(order_ack(2))]
    for step in steps if session_first else steps[::-1]:
        assert len(table(raw)) == 3
        step()
    acknowledge(raw)
    assert (table(raw), unacked(raw)) == ([3], [3])
    assert (sequence(raw)["LastAck"]["SeqNo"], sequence(raw)["LastAckCount"]) == (2, 1)


def test_a_new_sequence_begins_when_all_is_acknowledged(raw):
    send(raw, 2)
    acknowledge(raw)
    raw.feed(order_ack(2))
    assert (raw.session["OutgoingTxSequenceID"]["Ordinal"], raw.session["OutgoingTxSequenceNumber"]) == (2, 1)
    assert (pending(raw), table(raw)) == (None, [])
    send(raw, 1)
    assert numbers(raw.messages[2:]) == [(1, 0)]
    assert raw.messages[-1].TransactionHeader.TxSequenceID == TxSequenceID(2, SEQUENCE.TimeStamp)


def test_numbers_of_the_sequence_before_say_nothing_about_the_next(raw):
    send(raw, 5)
    acknowledge(raw)
    raw.feed(order_ack(5))
    send(raw, 3)
    acknowledge(raw)
    raw.feed(order_ack(1, TxSequenceID(2, SEQUENCE.TimeStamp)))
    assert (table(raw), unacked(raw), pending(raw)) == ([2, 3], [2, 3], 30_000)


@pytest.mark.parametrize(
    "stray",
    [order_ack(3), order_ack(2, TxSequenceID(1, 5)), order_ack(2, Label="other"), order_ack(2, MessageClass=0)],
    ids=["never sent", "other sequence", "other label", "other class"],
)
def test_a_stray_order_ack_changes_nothing(raw, stray):
    send(raw, 2)
    acknowledge(raw)
    raw.feed(stray)
    assert (table(raw), unacked(raw), raw.closed) == ([1, 2], [1, 2], None)


def test_an_order_ack_counts_as_a_message_of_the_session(raw):
    raw.feed(order_ack(1))
    assert raw.session["MessageReceivedCount"] == 1


def test_a_final_ack_of_another_size_is_malformed(raw):
    raw.feed(ordering(ACK_RECEIVE, b"short"))
    assert "3.1.5.1.3" in raw.closed


def test_messages_are_sent_again_at_growing_intervals():
    host = Network().host(1)
    host.ask(SetTimers(session_cleanup_ms=0x7FFFFFFF))
    raw = Raw.accepted(host)
    send(raw, 1)
    waits = []
    for count in range(2, 14):
        acknowledge(raw)
        waits.append(pending(raw) // 1000)
        host.network.advance(1000 * waits[-1] - 1)
        assert len(raw.messages) == count - 1
        host.network.advance(1)
        assert len(raw.messages) == count
    assert waits == [30, 30, 30, 300, 300, 300, 1_800, 1_800, 1_800, 21_600, 21_600, 21_600]
    assert set(numbers(raw.messages)) == {(1, 0)}


def test_the_resend_timer_is_scaled(raw):
    raw.host.ask(SetTimers(scale=10))
    send(raw, 1)
    assert pending(raw) == 3_000
    assert sequence(raw)["ResendTime"] == raw.host.network.now.utc_s + 30


def test_an_order_ack_shortens_the_interval_again(raw):
    send(raw, 2)
    for _ in range(3):
        acknowledge(raw)
        raw.host.network.advance(30_000)
    assert (sequence(raw)["ResendIntervalIndex"], sequence(raw)["ResendInterval"]) == (3, 300)
    raw.feed(order_ack(1))
    assert (sequence(raw)["ResendIntervalIndex"], sequence(raw)["ResendInterval"]) == (0, 30)
    assert pending(raw) == 30_000


def test_messages_without_any_acknowledgment_are_sent_again_too(raw):
    send(raw, 3)
    raw.feed(session_ack(AckSequenceNumber=1))
    raw.host.network.advance(30_000)
    assert numbers(raw.messages[3:]) == [(1, 0), (2, 1), (3, 2)]
    assert raw.session["UnAckedMessageCount"] == 3
    raw.feed(session_ack(AckSequenceNumber=2), session_ack(AckSequenceNumber=6))
    assert (raw.closed, raw.session["UnAckedMessageCount"]) == (None, 0)


def test_a_message_sent_again_bridges_what_was_deleted(raw):
    send(raw, 1)
    send(raw, 1, time_to_reach_queue_s=10)
    send(raw, 1)
    acknowledge(raw)
    raw.host.network.advance(30_000)
    assert numbers(raw.messages[3:]) == [(1, 0), (3, 1)]
    assert unacked(raw) == [1, 3]


def test_an_expired_message_goes_to_the_transactional_dead_letters(raw):
    send(raw, 1, time_to_reach_queue_s=10, journal=frozenset({"negative"}))
    acknowledge(raw)
    raw.host.network.advance(30_000)
    assert raw.host.bodies("system$;deadxact") == ["0"]
    assert (table(raw), unacked(raw), pending(raw)) == ([], [], None)


@pytest.mark.parametrize("crash", [False, True])
def test_messages_keep_their_numbers_on_the_next_session(raw, crash):
    send(raw, 3)
    acknowledge(raw)
    raw.feed(order_ack(1))
    raw.host.sent.clear()
    if crash:
        raw.host.restart()
    else:
        raw.lose()
        raw.host.network.advance(5_000)
    again = Raw.next_acceptor(raw.host).accept()
    assert numbers(again.messages) == [(2, 0), (3, 2)]
    assert {one.TransactionHeader.TxSequenceID for one in again.messages} == {SEQUENCE}
    assert unacked(again) == [2, 3]
    send(again, 1)
    assert numbers(again.messages[2:]) == [(4, 3)]


# -- final acknowledgments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered_first", [True, False])
@pytest.mark.parametrize(
    ("wanted", "message_class", "journal", "dead"),
    [
        ("positive", ACK_RECEIVE, ["0"], []),
        ("positive", BAD_QUEUE, [], []),
        ("negative", ACK_RECEIVE, [], []),
        ("negative", BAD_QUEUE, [], ["0"]),
    ],
)
def test_a_final_ack_ends_a_message(raw, ordered_first, wanted, message_class, journal, dead):
    send(raw, 1, journal=frozenset({wanted}))
    if ordered_first:
        acknowledge(raw)
        raw.feed(order_ack(1))
        assert (table(raw), len(raw.session["AwaitingFinalACKTable"])) == ([], 1)
    raw.feed(final_ack(raw.messages[0], message_class))
    acknowledge(raw)
    assert (table(raw), raw.session["AwaitingFinalACKTable"], unacked(raw)) == ([], [], [])
    assert (raw.host.bodies("system$;journal"), raw.host.bodies("system$;deadxact")) == (journal, dead)
    assert (raw.closed, raw.session["UnAckedMessageCount"]) == (None, 0)


def test_a_message_that_wants_no_journaling_awaits_no_final_ack(raw):
    send(raw, 1)
    acknowledge(raw)
    raw.feed(order_ack(1))
    assert raw.session["AwaitingFinalACKTable"] == []


def test_a_final_ack_of_anothers_message_changes_nothing(raw):
    send(raw, 1)
    raw.feed(final_ack(raw.messages[0], BAD_QUEUE, source=guid(55)))
    assert table(raw) == [1]


def test_a_session_with_nothing_left_to_send_is_closed_and_opened_by_the_next_message(raw):
    send(raw, 1)
    raw.lose()
    Raw.open(raw.host).feed(final_ack(raw.messages[0], BAD_QUEUE))
    connects = len(raw.host.connects)
    raw.host.network.advance(60_000)
    assert len(raw.host.connects) == connects
    send(raw, 1)
    assert len(Raw.next_acceptor(raw.host).accept().messages) == 1


def test_a_message_that_awaits_its_final_ack_survives_a_crash(raw):
    send(raw, 1, journal=frozenset({"positive"}))
    acknowledge(raw)
    raw.feed(order_ack(1))
    message = raw.messages[0]
    raw.host.restart()
    Raw.open(raw.host).feed(final_ack(message, ACK_RECEIVE))
    assert raw.host.bodies("system$;journal") == ["0"]


def test_the_transfer_info_is_inspected(raw):
    send(raw, 3)
    acknowledge(raw)
    raw.feed(order_ack(1))
    (queue,) = raw.host.adm()["OutgoingQueues"]
    info = queue["OutgoingTransferInfo"]
    assert (info["EodFirstNonAck"]["SeqNo"], info["EodLastNonAck"]["SeqNo"], info["EodNoAckCount"]) == (2, 3, 2)
    assert (info["EodLastAck"]["SeqNo"], info["EodNextSeq"]["SeqNo"], info["EodNextSeq"]["PrevNo"]) == (1, 4, 3)
