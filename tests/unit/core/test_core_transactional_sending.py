"""MS-MQQB 3.1.1.5, 3.1.5.6, 3.1.5.7, 3.1.6.5, 3.1.7.1.3: the sender of transactional messages."""

import pytest
from core_network import Network, direct
from core_ordering import SEQUENCE, final_ack, order_ack, ordering
from core_raw import Raw, session_ack

from reference_qm.codec import MessageClass, TxSequenceID
from reference_qm.surface.commands import SetTimers

TO = direct(9)
ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE


@pytest.fixture
def raw():
    return Raw.accepted(Network().host(1))


def send(raw, count, **fields):
    for number in range(count):
        raw.host.send(TO, str(number).encode(), transactional=True, **fields)


def acknowledge(raw):
    """Acknowledge all messages of the session on the level of the session."""
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


def test_two_destinations_have_sequences_of_their_own():
    host = Network().host(1)
    ids = set()
    for number in (8, 9):
        host.network.by_hand.add(f"10.0.0.{number}")
        host.send(direct(number), transactional=True)
        ids.add(tuple(host.adm()["Sessions"][-1]["OutgoingTxSequenceID"].values()))
    assert len(ids) == 2


def test_a_new_sequence_begins_when_all_is_acknowledged(raw):
    send(raw, 2)
    acknowledge(raw)
    raw.feed(order_ack(2))
    assert (raw.session["OutgoingTxSequenceID"]["Ordinal"], raw.session["OutgoingTxSequenceNumber"]) == (2, 1)
    assert (pending(raw), table(raw)) == (None, [])
    send(raw, 1)
    assert numbers(raw.messages[2:]) == [(1, 0)]
    assert raw.messages[-1].TransactionHeader.TxSequenceID == TxSequenceID(2, SEQUENCE.TimeStamp)


def test_a_final_ack_of_another_size_is_malformed(raw):
    raw.feed(ordering(ACK_RECEIVE, b"short"))
    assert "3.1.5.1.3" in raw.closed


def test_transactional_messages_are_sent_again_at_growing_intervals():
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


def test_order_ack_shortens_the_resend_interval_again(raw):
    send(raw, 2)
    for _ in range(3):
        acknowledge(raw)
        raw.host.network.advance(30_000)
    assert (sequence(raw)["ResendIntervalIndex"], sequence(raw)["ResendInterval"]) == (3, 300)
    raw.feed(order_ack(1))
    assert (sequence(raw)["ResendIntervalIndex"], sequence(raw)["ResendInterval"]) == (0, 30)
    assert pending(raw) == 30_000


def test_transactional_messages_without_any_acknowledgment_are_sent_again(raw):
    send(raw, 3)
    raw.feed(session_ack(AckSequenceNumber=1))
    raw.host.network.advance(30_000)
    assert numbers(raw.messages[3:]) == [(1, 0), (2, 1), (3, 2)]
    assert raw.session["UnAckedMessageCount"] == 3
    raw.feed(session_ack(AckSequenceNumber=2), session_ack(AckSequenceNumber=6))
    assert (raw.closed, raw.session["UnAckedMessageCount"]) == (None, 0)


def test_repeated_message_names_predecessor_before_deleted_messages(raw):
    send(raw, 1)
    send(raw, 1, time_to_reach_queue_s=10)
    send(raw, 1)
    acknowledge(raw)
    raw.host.network.advance(30_000)
    assert numbers(raw.messages[3:]) == [(1, 0), (3, 1)]
    assert unacked(raw) == [1, 3]


def test_expired_message_is_moved_to_transactional_dead_letter_queue(raw):
    send(raw, 1, time_to_reach_queue_s=10, journal=frozenset({"negative"}))
    acknowledge(raw)
    raw.host.network.advance(30_000)
    assert raw.host.bodies("system$;deadxact") == ["0"]
    assert (table(raw), unacked(raw), pending(raw)) == ([], [], None)


# -- final acknowledgments --------------------------------------------------------------------------------------


def test_transactional_message_without_final_ack_survives_a_crash(raw):
    send(raw, 1, journal=frozenset({"positive"}))
    acknowledge(raw)
    raw.feed(order_ack(1))
    message = raw.messages[0]
    raw.host.restart()
    Raw.open(raw.host).feed(final_ack(message, ACK_RECEIVE))
    assert raw.host.bodies("system$;journal") == ["0"]
