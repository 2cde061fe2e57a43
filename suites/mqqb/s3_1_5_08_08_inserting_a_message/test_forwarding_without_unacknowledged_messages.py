"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: OutgoingTransferInfo when all messages of the SUT in the
same queue have OrderAcks, and after the end of a session.
"""

from __future__ import annotations

from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.opening import find_initiated_session, private_name
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_info, read_sequence_info_of_transfer

NUMBER_OF_QUEUE_BEHIND_ROUTER = 1
DELAY_BEFORE_LATER_SESSION_MS = 2_000
"""The time before the next session, after which TimeOfLastAck, in whole seconds, differs."""
TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE = {
    "MQQB-3.1.5.8.8-29": ("EodLastAckTime", "TimeOfLastAck"),
    "MQQB-3.1.5.8.8-30": ("EodLastAckCount", "LastAckCount"),
    "MQQB-3.1.5.8.8-32": ("EodResendInterval", "ResendInterval"),
    "MQQB-3.1.5.8.8-35": ("EodLastAck", "LastAck"),
    "MQQB-3.1.5.8.8-41": ("EodResendCount", "ResendIntervalIndex"),
    "MQQB-3.1.5.8.8-42": ("EodResendTime", "ResendTime"),
}
"""For each rule, the attribute of OutgoingTransferInfo and the element of TxOutgoingSequence whose value it has."""


def _open_outgoing_queue(peer, sut) -> SequenceSentBySut:
    outgoing = SequenceSentBySut(peer, sut)
    outgoing.to = outgoing.sender.to = private_name(peer.identifier)
    return outgoing


def _forward_message(peer, outgoing: SequenceSentBySut, number: int):
    """Send the SUT a transactional message for the peer, and wait until OutgoingTransferInfo is up to date. Return the
    peer's packet.
    """
    elsewhere = peer.build_fields_for_private_destination(peer.identifier, NUMBER_OF_QUEUE_BEHIND_ROUTER)
    sent = peer.open_raw().send(Sequence(peer, ordinal=number).message(elsewhere, destination=None))
    identifier = int(sent["UserHeader"].MessageID)
    peer.inbox.wait(lambda frame: int(frame["UserHeader"].MessageID) == identifier)
    peer.settle()
    return sent


def _judge_elements_copied_to_transfer_info(judge, sut, outgoing: SequenceSentBySut, case: str, evidence) -> None:
    """Judge that OutgoingTransferInfo has the values of TxOutgoingSequence."""
    info, shown = outgoing.read_transfer_info(), find_initiated_session(sut, outgoing.to)
    sequence = read_data_model_element(shown, "TxOutgoingSequence")
    for rule, (attribute, element) in TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE.items():
        judge(
            rule,
            expected=fields({element: read_data_model_element(sequence, element)}),
            observed={element: read_data_model_element(info, attribute)},
            case=case,
            evidence=evidence,
        )
    count = len(read_data_model_element(sequence, "UnackedSequence"))
    observed = read_data_model_element(info, "EodNoAckCount")
    judge("MQQB-3.1.5.8.8-31", expected=count, observed=observed, case=f"EodNoAckCount {case}", evidence=evidence)
    number = int(read_data_model_element(shown, "OutgoingTxSequenceNumber"))
    judge(
        "MQQB-3.1.5.8.8-39",
        expected=(number, number - 1),
        observed=read_sequence_info_of_transfer(info, "EodNextSeq")[1:],
        case=f"SeqNo and PrevNo of EodNextSeq {case}",
        evidence=evidence,
    )


@covers(*TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE, "MQQB-3.1.5.8.8-31", "MQQB-3.1.5.8.8-39")
@needs("inspect", "management", "send", "private_names")
def test_transfer_info_after_forwarding_without_unacknowledged_messages(peer, sut, judge):
    """The SUT sends two transactional messages to a queue, and the peer acknowledges them by an OrderAck, but not by a
    SessionAck. Then the SUT forwards a message to the queue. The peer acknowledges all messages, and the SUT forwards a
    second message. Each time, OutgoingTransferInfo has the values of TxOutgoingSequence.
    """
    outgoing = _open_outgoing_queue(peer, sut)
    sent = outgoing.send(2)
    frame = outgoing.send_order_ack(2)
    peer.eventually(lambda: not outgoing.list_unacknowledged_numbers())
    forwarded = _forward_message(peer, outgoing, 1)
    _judge_elements_copied_to_transfer_info(judge, sut, outgoing, "before the SessionAck", [*sent, frame, forwarded])
    outgoing.send_session_ack()
    forwarded = _forward_message(peer, outgoing, 2)
    _judge_elements_copied_to_transfer_info(judge, sut, outgoing, "after the SessionAck", [*sent, frame, forwarded])
    peer.inbox.acknowledge()


@covers("MQQB-3.1.5.8.8-28", "MQQB-3.1.5.8.8-29")
@needs("inspect", "management", "send", "private_names")
def test_transfer_info_is_updated_after_end_of_session(peer, sut, judge):
    """The SUT sends three transactional messages to a queue, and the peer sends an OrderAck of the first. The SUT
    sends a fourth message. The peer closes the session, and sends the SUT a message for the queue before the SUT has
    connected again. EodNextSeq is the place after the fourth message. On the next session, the SUT forwards a second
    message, and OutgoingTransferInfo has the time of TxOutgoingSequence.
    """
    outgoing = _open_outgoing_queue(peer, sut)
    outgoing.send(3)
    outgoing.send_session_ack()
    outgoing.send_order_ack(1)
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    sent = outgoing.send(1)
    outgoing.send_session_ack()
    peer.pass_time(DELAY_BEFORE_LATER_SESSION_MS)
    carrier = peer.open_raw()
    outgoing.session.close()
    elsewhere = peer.build_fields_for_private_destination(peer.identifier, NUMBER_OF_QUEUE_BEHIND_ROUTER)
    forwarded = carrier.send(Sequence(peer, ordinal=1).message(elsewhere, destination=None))
    following, evidence = get_sequence_info(sent[0], 1), [*sent, forwarded]
    peer.eventually(lambda: read_sequence_info_of_transfer(outgoing.read_transfer_info(), "EodNextSeq") == following)
    info = outgoing.read_transfer_info()
    judge(
        "MQQB-3.1.5.8.8-28",
        expected=following,
        observed=read_sequence_info_of_transfer(info, "EodNextSeq"),
        case="SeqID, SeqNo and PrevNo of EodNextSeq after the end of the session",
        evidence=evidence,
    )
    outgoing.await_session()
    peer.settle()
    outgoing.send_session_ack()
    later = _forward_message(peer, outgoing, 2)
    sequence = outgoing.read_sequence()
    shown_s = read_data_model_element(sequence, "TimeOfLastAck")
    judge(
        "MQQB-3.1.5.8.8-29",
        expected=holds(f"EodLastAckTime is {shown_s}, which is TimeOfLastAck"),
        observed=read_data_model_element(outgoing.read_transfer_info(), "EodLastAckTime") == shown_s or "another time",
        case="on the next session",
        evidence=[*evidence, later],
    )
    outgoing.acknowledge_all()


@covers("MQQB-3.1.5.8.8-17")
@needs("management", "receive", "queue_control")
def test_transfer_info_of_emptied_queue_is_kept(peer, sut, judge):
    """On a session, the peer sends the first message of a sequence to a queue, and an application receives the message.
    While the session is open, the queue still has the IncomingTransactionalTransferInfo of the sequence.
    """
    queue = sut.new_queue("emptied", transactional=True)
    session, sequence = peer.open_raw(), Sequence(peer)
    sent = session.send(sequence.message(destination=rf"TCP:{sut.address}\{queue}", label="received"))
    peer.await_label("received", queue)
    received = sut.read_label("receive", queue=queue)
    session.require_session_ack_for_message()
    transfers = sut.control.call("get_transfers", queue=queue)["transfers"]
    judge(
        "MQQB-3.1.5.8.8-17",
        expected={
            "label of the received message": "received",
            "Ordinals of the sequences": [sequence.identifier.Ordinal],
        },
        observed={
            "label of the received message": received,
            "Ordinals of the sequences": [one["SequenceIdentifier"]["Ordinal"] for one in transfers],
        },
        evidence=[sent, session.last],
    )
