"""MS-MQQB 3.1.1.5 Transactional Message Sequence: sequences of two queues, ended sequences, and forwarded sequences."""

from __future__ import annotations

from harness.expectations import none
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.ordering import read_acknowledged_sequence_position
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_id_number, read_sequence_id

JOURNALING_FLAG_COMBINATIONS: tuple[dict[str, int], ...] = ({}, {"JN": 1}, {"JP": 1}, {"JN": 1, "JP": 1})
"""The journaling that the messages of a forwarded sequence request."""


@needs("send", "inspect")
@covers("MQQB-3.1.1.5-01", "MQQB-3.1.1.5-D01")
def test_sequence_infos_of_two_queues_have_their_own_sequence_ids(peer, sut, judge):
    """The SUT sends transactional messages alternately to two queues of the peer. In UnackedSequence of each session,
    SeqID, SeqNo and PrevNo are those of the messages of its queue.
    """
    first = SequenceSentBySut(peer, sut, "mqc-infos-first")
    second = first.start_second_sequence("mqc-infos-second")
    for outgoing in (first, second, first, second):
        outgoing.send()
    for name, outgoing in (("first", first), ("second", second)):
        outgoing.send_session_ack()
        shown = read_data_model_element(outgoing.read_sequence(), "UnackedSequence")
        numbers = [int(frame["TransactionHeader"].TxSequenceNumber) for frame in outgoing.sent]
        places = [
            (get_sequence_id_number(frame), number, number - 1)
            for frame, number in zip(outgoing.sent, numbers, strict=True)
        ]
        judge(
            "MQQB-3.1.1.5-01",
            "MQQB-3.1.1.5-D01",
            expected=places,
            observed=[tuple(int(one[part]) for part in ("SeqID", "SeqNo", "PrevNo")) for one in shown],
            case=f"SEQUENCE_INFOs of the {name} queue",
            evidence=outgoing.sent,
        )
    for outgoing in (first, second):
        outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.1.5-05")
def test_sequence_that_a_session_ack_ends_is_not_continued(peer, sut, judge):
    """The peer acknowledges two messages by an OrderAck, and then by a SessionAck. The SUT's next message is in a later
    sequence.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-sequence-ended")
    sent = outgoing.send(2)
    acks = [outgoing.send_order_ack(2), outgoing.send_session_ack()]
    [following] = outgoing.send()
    ended = [] if read_sequence_id(following) > read_sequence_id(sent[0]) else [read_sequence_id(following)]
    judge(
        "MQQB-3.1.1.5-05",
        expected=none("message in the ended sequence"),
        observed=ended,
        evidence=[*sent, *acks, following],
    )
    outgoing.acknowledge_all()


@needs("private_names")
@covers("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01")
def test_router_does_not_acknowledge_a_sequence_in_order(peer, sut, judge):
    """The peer sends four messages of a sequence in order, with and without journaling, that are addressed to the peer
    itself. The SUT forwards them, and sends neither an OrderAck nor a FinalAck.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequence = Sequence(peer, ordinal=3)
    target = peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id())
    sent = [
        receiver.send_packet(sequence.message(target | journaling, destination=None))
        for journaling in JOURNALING_FLAG_COMBINATIONS
    ]
    came = receiver.await_messages_of_sut(receiver.list_forwarded_messages, len(sent))
    peer.pass_time(sut.duration_ms(ACK_TIMEOUT_MS))
    own = (sequence.identifier.Ordinal, sequence.identifier.TimeStamp)
    acks = [
        frame
        for final in (False, True)
        for frame in receiver.list_acknowledgments(final=final)
        if read_acknowledged_sequence_position(frame)[:2] == own
    ]
    if not came:
        judge.mark_not_exercised(
            "MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01", reason="the SUT forwarded no message", evidence=sent
        )
    else:
        judge.all(
            expected=none("OrderAck or FinalAck of a forwarded message"),
            observed=[read_acknowledged_sequence_position(frame).TxSequenceNumber for frame in acks],
            evidence=[*sent, *came, *acks],
        )
    receiver.acknowledge_all()
