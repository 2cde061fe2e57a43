"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: OrderAcks for a queue on hold, OrderAcks before and after a restart,
and OrderAcks to both names of the order queue.
"""

from __future__ import annotations

from harness.expectations import holds, none
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatNameId
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_info, read_sequence_info_of_transfer

ORDER_QUEUE_NUMBER = 4
"""The number of the order queue in a private format name (MS-MQQB 2.2.4)."""


@needs("send", "inspect", "pause")
@covers("MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09", "MQQB-3.1.5.6-12", "MQQB-3.1.5.6-19", "MQQB-3.1.5.6-22")
def test_order_ack_updates_the_sequence_of_a_queue_on_hold(peer, sut, judge):
    """While a queue is on hold and has a further message, the peer sends the OrderAck of two of the three messages that
    the SUT has sent. The SUT updates TxOutgoingSequence, EodLastNonAck is the third message, and EodNoAckCount is 1.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-held")
    sent = outgoing.send(3)
    outgoing.send_session_ack()
    sut.pause(outgoing.to)
    unsent = peer.next_message_id()
    outgoing.sender.send(unsent, delivery="transactional")
    peer.settle()
    frame = outgoing.send_order_ack(2)
    peer.eventually(lambda: outgoing.list_unacknowledged_numbers() == [3])
    sequence = outgoing.read_sequence()
    last = read_data_model_element(read_data_model_element(sequence, "LastAck"), "SeqNo")
    evidence = [*sent, frame]
    judge("MQQB-3.1.5.6-08", expected=2, observed=last, case="SeqNo of LastAck", evidence=evidence)
    left = outgoing.list_unacknowledged_numbers()
    judge("MQQB-3.1.5.6-09", expected=[3], observed=left, case="numbers in UnackedSequence", evidence=evidence)
    count = read_data_model_element(sequence, "LastAckCount")
    judge("MQQB-3.1.5.6-12", expected=1, observed=count, case="LastAckCount", evidence=evidence)
    if sut.has("management"):
        judge(
            "MQQB-3.1.5.6-22",
            expected=get_sequence_info(sent[-1]),
            observed=read_sequence_info_of_transfer(outgoing.read_transfer_info(), "EodLastNonAck"),
            case="SeqID, SeqNo and PrevNo of EodLastNonAck",
            evidence=evidence,
        )
        unacknowledged_count = read_data_model_element(outgoing.read_transfer_info(), "EodNoAckCount")
        judge("MQQB-3.1.5.6-19", expected=1, observed=unacknowledged_count, case="EodNoAckCount", evidence=evidence)
    else:
        missing = "the SUT does not show OutgoingTransferInfo"
        judge.mark_not_exercised("MQQB-3.1.5.6-19", "MQQB-3.1.5.6-22", reason=missing)
    sut.resume(outgoing.to)
    outgoing.tags.append(unsent)
    peer.eventually(lambda: bool(outgoing.copies(4)))
    outgoing.sent += outgoing.copies(4)[:1]
    outgoing.acknowledge_all()


@needs("send", "inspect", "management")
@covers("MQQB-3.1.5.6-19")
def test_count_of_unacknowledged_messages_counts_entries_of_the_sequence(peer, sut, judge):
    """The peer refuses the third of five messages by a FinalAck, and sends the OrderAck of the first message.
    EodNoAckCount is the number of entries of UnackedSequence, whether the third message is among them or not.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-count")
    sent = outgoing.send(5)
    frames = [outgoing.send_session_ack(), outgoing.send_final_ack(3)]
    peer.settle()
    frames.append(outgoing.send_order_ack(1))
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    judge(
        "MQQB-3.1.5.6-19",
        expected=len(outgoing.list_unacknowledged_numbers()),
        observed=read_data_model_element(outgoing.read_transfer_info(), "EodNoAckCount"),
        case="EodNoAckCount after the FinalAck of a message between unacknowledged messages",
        evidence=[*sent, *frames],
    )
    outgoing.acknowledge_all()


@needs("send", "restart")
@covers("MQQB-3.1.5.5.5-03", "MQQB-3.1.5.6-13")
def test_only_messages_without_order_ack_come_after_restart(peer, sut, judge):
    """The peer acknowledges three transactional messages by a SessionAck, and the first two of them by an OrderAck.
    After a restart, the SUT sends only the third message again.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-restart")
    sent = outgoing.send(3)
    acks = [outgoing.send_session_ack(), outgoing.send_order_ack(2)]
    peer.settle()
    sut.restart()
    peer.environment.run_until(lambda: len(outgoing.copies(3)) > 1, sut.connect_timeout_ms)
    peer.pass_time(sut.quiet_ms)
    came = [number for number in (1, 2, 3) if len(outgoing.copies(number)) > 1]
    again, evidence = [number for number in came if number < 3], [*sent, *acks, *outgoing.copies(3)]
    judge("MQQB-3.1.5.6-13", expected=none("acknowledged message sent again"), observed=again, evidence=evidence)
    third = holds("the third message comes again", otherwise="the third message does not come again")
    judge("MQQB-3.1.5.5.5-03", expected=third, observed=3 in came, evidence=evidence)
    if came:
        outgoing.acknowledge_all()


@needs("send", "management", "restart")
@covers("MQDMPR-3.1.3-28")
def test_order_queue_is_found_by_both_names_and_after_restart(peer, sut, judge):
    """The peer sends OrderAcks to the order queue of the SUT by its number and by its direct name, before and after a
    restart. Each time, OutgoingTransferInfo shows the acknowledged message.
    """
    by_number = {
        "DQ": 3,
        "DestinationQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ORDER_QUEUE_NUMBER),
        "QueueManagerAddress": sut.identifier,
    }
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-names")
    outgoing.send(4)
    outgoing.send_session_ack()
    for number, name in enumerate(("number", "direct name", "number", "direct name"), 1):
        if number == 3:
            sut.restart()
            peer.environment.run_until(lambda: len(outgoing.copies(4)) > 1, sut.connect_timeout_ms)
            outgoing.await_session()
        changes = {"user": by_number} if name == "number" else {}
        frame = outgoing.send_order_ack(number, **changes)

        def read_last_acknowledged() -> int:
            return read_sequence_info_of_transfer(outgoing.read_transfer_info(), "EodLastAck")[1]

        peer.eventually(lambda number=number: read_last_acknowledged() == number)
        judge.all(
            expected=number,
            observed=read_last_acknowledged(),
            case=f"SeqNo of EodLastAck after an OrderAck by {name}",
            evidence=[outgoing.sent[number - 1], frame],
        )
    outgoing.acknowledge_all()
