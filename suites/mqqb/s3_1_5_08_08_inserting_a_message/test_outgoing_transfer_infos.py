"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: OutgoingTransferInfo of forwarded messages."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import (
    between,
    holds,
)
from harness.run.marks import covers, needs, varied
from suites.messages import Sequence
from suites.mqqb.steps.opening import (
    CLOCK_TOLERANCE_S,
    find_initiated_session,
    find_outgoing_queue,
    list_outgoing_queues,
    private_name,
)
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_info, read_sequence_info_of_transfer

NUMBER_OF_QUEUE_BEHIND_ROUTER = 1


RULES_OF_TRANSFER_INFO = (
    "MQQB-3.1.5.8.8-28",
    "MQQB-3.1.5.8.8-29",
    "MQQB-3.1.5.8.8-30",
    "MQQB-3.1.5.8.8-31",
    "MQQB-3.1.5.8.8-32",
    "MQQB-3.1.5.8.8-33",
    "MQQB-3.1.5.8.8-34",
    "MQQB-3.1.5.8.8-35",
    "MQQB-3.1.5.8.8-36",
    "MQQB-3.1.5.8.8-37",
    "MQQB-3.1.5.8.8-38",
    "MQQB-3.1.5.8.8-39",
    "MQQB-3.1.5.8.8-40",
    "MQQB-3.1.5.8.8-42",
)
"""Rules about OutgoingTransferInfo after the SUT has forwarded a transactional message."""


@covers(*RULES_OF_TRANSFER_INFO)
@needs("management", "send", "private_names")
@varied("extension", "correlation", "queue journaling")
def test_transfer_info_after_forwarding_has_values_of_sequence(peer, sut, judge):
    """The SUT sends an express message to one queue and three transactional messages to a second queue. The peer
    acknowledges the first transactional message by an OrderAck. Then the SUT forwards a message from the peer to the
    second queue. OutgoingTransferInfo has the values of the SUT's sequence.
    """
    name = private_name(peer.identifier)
    outgoing = SequenceSentBySut(peer, sut)
    outgoing.to = outgoing.sender.to = name
    outgoing.start_second_sequence("mqc-beside").send(delivery="express")
    unread = sum(
        _get_outgoing_transfer_info(one).get("EodNoReadCount", 0) for one in list_outgoing_queues(sut, name)
    )  # of earlier checks
    own = outgoing.send(3, journal=["positive"])
    acks = [outgoing.send_session_ack(), outgoing.send_order_ack(1)]
    peer.eventually(lambda: _get_outgoing_transfer_info(find_outgoing_queue(sut, name)).get("EodLastAckCount") == 1)
    known, interval_s = (
        len(outgoing.session.messages),
        _get_outgoing_transfer_info(find_outgoing_queue(sut, name)).get("EodResendInterval", 0),
    )
    packet = Sequence(peer).message(
        peer.build_fields_for_private_destination(peer.identifier, NUMBER_OF_QUEUE_BEHIND_ROUTER),
        destination=None,
        ApplicationTag=3,
    )
    sent = peer.open_raw().send(packet)
    peer.environment.run_until(lambda: len(outgoing.session.messages) > known, sut.response_timeout_ms)
    if not peer.eventually(lambda: read_sequence_info_of_transfer(outgoing.read_transfer_info(), "EodNextSeq")[1] > 1):
        judge(
            "MQQB-3.1.5.8.8-28",
            expected=holds("OutgoingTransferInfo shows the message that the SUT forwarded"),
            observed=False,
            evidence=[*acks, sent],
        )
        raise ConformanceFailure("OutgoingTransferInfo does not show the message that the SUT forwarded")
    info, now_s = outgoing.read_transfer_info(), peer.environment.now().utc_s
    last, following = get_sequence_info(own[2]), get_sequence_info(own[2], 1)
    for rule, element, expected in (
        ("MQQB-3.1.5.8.8-28", "EodNoAckCount", 2),
        ("MQQB-3.1.5.8.8-31", "EodNoAckCount", 2),
        ("MQQB-3.1.5.8.8-29", "EodLastAckTime", between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)),
        ("MQQB-3.1.5.8.8-30", "EodLastAckCount", 1),
        ("MQQB-3.1.5.8.8-40", "EodNoReadCount", unread + 1),
        ("MQQB-3.1.5.8.8-32", "EodResendInterval", interval_s),
        (
            "MQQB-3.1.5.8.8-42",
            "EodResendTime",
            between(now_s - CLOCK_TOLERANCE_S + interval_s, now_s + CLOCK_TOLERANCE_S + interval_s),
        ),
    ):
        judge(rule, expected=expected, observed=info.get(element), case=element, evidence=[*acks, sent])
    for rule, element, place in (
        ("MQQB-3.1.5.8.8-33", "EodFirstNonAck", get_sequence_info(own[1])),
        ("MQQB-3.1.5.8.8-34", "EodLastNonAck", last),
        ("MQQB-3.1.5.8.8-36", "EodNextSeq", following),
        ("MQQB-3.1.5.8.8-37", "EodNextSeq", following),
        ("MQQB-3.1.5.8.8-38", "EodNextSeq", following),
        ("MQQB-3.1.5.8.8-39", "EodNextSeq", following),
    ):
        judge(
            rule,
            expected=place,
            observed=read_sequence_info_of_transfer(info, element),
            case=f"SeqID, SeqNo and PrevNo of {element}",
            evidence=[*acks, sent],
        )
    number = read_sequence_info_of_transfer(info, "EodLastAck")[1]
    judge("MQQB-3.1.5.8.8-35", expected=1, observed=number, case="SeqNo of EodLastAck", evidence=[*acks, sent])
    outgoing.acknowledge_all()


RESEND_TIMER_EXPIRY_COUNT = 4
"""The number of expiries of the resend timer: one more than the number after which the resend interval changes."""
FIRST_UNACKNOWLEDGED_NUMBER = 3
"""The number of the first message that the peer does not acknowledge by an OrderAck before the timer expires."""
TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE = {
    "MQQB-3.1.5.8.8-29": ("EodLastAckTime", "TimeOfLastAck"),
    "MQQB-3.1.5.8.8-30": ("EodLastAckCount", "LastAckCount"),
    "MQQB-3.1.5.8.8-32": ("EodResendInterval", "ResendInterval"),
    "MQQB-3.1.5.8.8-35": ("EodLastAck", "LastAck"),
    "MQQB-3.1.5.8.8-41": ("EodResendCount", "ResendIntervalIndex"),
    "MQQB-3.1.5.8.8-42": ("EodResendTime", "ResendTime"),
}
"""Elements of OutgoingTransferInfo. Each element is listed with the element of TxOutgoingSequence from which the SUT
copies the value.
"""


@covers(*RULES_OF_TRANSFER_INFO, "MQQB-3.1.5.8.8-41")
@needs("inspect", "management", "send", "private_names")
@varied("response queue", acknowledgments=("none", "of arrival"), body=("short", "5,000 bytes"))
def test_transfer_info_after_forwarding_equals_session_state(peer, sut, judge):
    """The SUT sends transactional messages to a queue and forwards messages from the peer to the same queue: first
    before any OrderAck, then after two OrderAcks, and finally after three expiries of the resend timer. After each
    forwarded message, OutgoingTransferInfo has the values of the session's elements. Two messages to another queue of
    the peer await an OrderAck or a FinalAck.
    """
    name = private_name(peer.identifier)
    outgoing = SequenceSentBySut(peer, sut)
    beside = outgoing.start_second_sequence("mqc-beside")
    beside.send(2, journal=["positive"])
    beside.send_session_ack()
    beside.send_order_ack(1)
    peer.settle()
    outgoing.to = outgoing.sender.to = name
    outgoing.send(4, journal=["positive"])
    _judge_transfer_info_after_forwarding(peer, sut, judge, name, outgoing)
    for number in range(1, FIRST_UNACKNOWLEDGED_NUMBER):
        peer.pass_time(2_000)
        outgoing.send_order_ack(number)
        peer.settle()
        _judge_outgoing_transfer_info(peer, sut, judge, name, outgoing, [outgoing.sent[number]])
    _judge_transfer_info_after_forwarding(peer, sut, judge, name, outgoing)
    for _ in range(RESEND_TIMER_EXPIRY_COUNT):
        outgoing.await_resend(FIRST_UNACKNOWLEDGED_NUMBER)
        peer.settle()
        outgoing.send_session_ack()
    _judge_transfer_info_after_forwarding(peer, sut, judge, name, outgoing)
    for each in (beside, outgoing):
        each.acknowledge_all()
    _judge_outgoing_transfer_info(peer, sut, judge, name, outgoing, outgoing.sent)


def _judge_transfer_info_after_forwarding(peer, sut, judge, name, outgoing):
    """Let the SUT forward a message of the peer, and judge OutgoingTransferInfo."""
    before = _get_outgoing_transfer_info(find_outgoing_queue(sut, name))
    packet = Sequence(peer).message(
        peer.build_fields_for_private_destination(peer.identifier, NUMBER_OF_QUEUE_BEHIND_ROUTER),
        destination=None,
        ApplicationTag=3,
    )
    sent = peer.open_raw().send(packet)
    peer.settle()
    peer.eventually(lambda: _get_outgoing_transfer_info(find_outgoing_queue(sut, name)) != before)
    _judge_outgoing_transfer_info(peer, sut, judge, name, outgoing, [*outgoing.sent, sent])
    outgoing.send_session_ack()  # otherwise the session ends, and its state begins anew


def _judge_outgoing_transfer_info(peer, sut, judge, name, outgoing, evidence):
    """Judge that OutgoingTransferInfo has the values of the session's elements."""
    info, state = _get_outgoing_transfer_info(find_outgoing_queue(sut, name)), find_initiated_session(sut, name)
    if len({frame.connection for number in range(1, 5) for frame in outgoing.copies(number)}) != 1:
        raise ConformanceFailure("the session ended while the check waited, so its state has begun anew")
    sequence = state["TxOutgoingSequence"]
    if not info:
        raise ConformanceFailure("the SUT shows no OutgoingTransferInfo")
    for rule, (element, of_sequence) in TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE.items():
        judge(
            rule,
            "MQQB-3.1.5.8.8-28",
            expected=sequence[of_sequence],
            observed=info[element],
            case=element,
            evidence=evidence,
        )
    unacked = sequence["UnackedSequence"]
    next_one = info["EodNextSeq"]
    number = state["OutgoingTxSequenceNumber"]
    identifier = state["OutgoingTxSequenceID"]
    whole = identifier["TimeStamp"] << 32 | identifier["Ordinal"]
    for rule, element, expected, observed in (
        ("MQQB-3.1.5.8.8-28", "EodNoAckCount", len(unacked), info["EodNoAckCount"]),
        ("MQQB-3.1.5.8.8-31", "EodNoAckCount", len(unacked), info["EodNoAckCount"]),
        *(
            (
                ("MQQB-3.1.5.8.8-33", "EodFirstNonAck", unacked[0], info["EodFirstNonAck"]),
                ("MQQB-3.1.5.8.8-34", "EodLastNonAck", unacked[-1], info["EodLastNonAck"]),
            )
            if unacked
            else ()
        ),
        (
            "MQQB-3.1.5.8.8-36",
            "EodNextSeq",
            [whole, number, number - 1],
            [next_one["SeqID"], next_one["SeqNo"], next_one["PrevNo"]],
        ),
        ("MQQB-3.1.5.8.8-37", "SeqID of EodNextSeq", whole, next_one["SeqID"]),
        ("MQQB-3.1.5.8.8-38", "SeqNo of EodNextSeq", number, next_one["SeqNo"]),
        ("MQQB-3.1.5.8.8-39", "PrevNo of EodNextSeq", number - 1, next_one["PrevNo"]),
        ("MQQB-3.1.5.8.8-40", "EodNoReadCount", len(state["AwaitingFinalACKTable"]), info["EodNoReadCount"]),
    ):
        judge(rule, expected=expected, observed=observed, case=element, evidence=evidence)


def _get_outgoing_transfer_info(queue: dict[str, Any]) -> dict[str, Any]:
    return dict(queue["OutgoingTransferInfo"] or {})
