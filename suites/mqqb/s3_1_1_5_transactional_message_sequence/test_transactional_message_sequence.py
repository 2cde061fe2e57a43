"""MS-MQQB 3.1.1.5 Transactional Message Sequence: the SEQUENCE_INFO of each sent message."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import (
    SequenceSentBySut,
    get_sequence_info,
    list_sequence_numbers,
    read_sequence_info_of_transfer,
)

SEQUENCE_INFO_FIELD_BY_RULE = {"MQQB-3.1.1.5-D01": "SeqID", "MQQB-3.1.1.5-D02": "SeqNo", "MQQB-3.1.1.5-D03": "PrevNo"}
SHORT_LIFETIME_S, LONG_LIFETIME_S = 1, 600
LIFETIME_S_BY_TAG = {tag: (LONG_LIFETIME_S, SHORT_LIFETIME_S)[tag % 2] for tag in range(1, 9)}
"""TimeToReachQueue in seconds of each message of a sequence, by ApplicationTag."""
EXPIRY_WAIT_MS = 3_100
"""The time in ms after which SHORT_LIFETIME_S has passed according to every clock that counts whole seconds."""


@needs("send", "management")
@covers(
    "MQQB-3.1.1.5-01",
    "MQQB-3.1.1.5-02",
    "MQQB-3.1.3.2-18",
    "MQQB-3.1.7.1.3-06",
    "MQQB-3.1.7.1.3-07",
    *SEQUENCE_INFO_FIELD_BY_RULE,
)
def test_sequence_info_of_unacknowledged_messages_is_kept(peer, sut, judge):
    """A sequence of one message ends. Then the SUT sends five messages, and the peer acknowledges three of them one by
    one. Each time, OutgoingTransferInfo shows the SEQUENCE_INFO of the first and of the last unacknowledged message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-places")
    outgoing.send()
    outgoing.acknowledge_all()
    sent = outgoing.send(5)
    outgoing.send_session_ack()
    for number in (1, 2, 3):
        frame = outgoing.send_order_ack(number + 1)
        outgoing.await_transfer_info_value("EodLastAckCount", number + 1)
        info = outgoing.read_transfer_info()
        judge(
            "MQQB-3.1.3.2-18",
            expected=number + 1,
            observed=read_data_model_element(info, "EodLastAckCount"),
            case="EodLastAckCount",
            evidence=frame,
        )
        found = [read_sequence_info_of_transfer(info, name) for name in ("EodFirstNonAck", "EodLastNonAck")]
        expected = [get_sequence_info(sent[number]), get_sequence_info(sent[-1])]
        evidence = [sent[number], sent[-1], frame]
        left = read_data_model_element(info, "EodNoAckCount")
        judge(
            "MQQB-3.1.7.1.3-06",
            expected=5 - number,
            observed=left,
            case="number of unacknowledged messages",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.1.5-01",
            "MQQB-3.1.1.5-02",
            "MQQB-3.1.7.1.3-07",
            expected=expected,
            observed=found,
            case="SEQUENCE_INFO of the first and the last unacknowledged message",
            evidence=evidence,
        )
        for at, (rule, name) in enumerate(SEQUENCE_INFO_FIELD_BY_RULE.items()):
            expected_part, shown_part = [one[at] for one in expected], [one[at] for one in found]
            judge(rule, expected=fields({name: expected_part}), observed={name: shown_part}, evidence=evidence)
        following = read_sequence_info_of_transfer(info, "EodNextSeq")
        judge(
            "MQQB-3.1.1.5-D03",
            expected=get_sequence_info(sent[-1], 1)[1:],
            observed=following[1:],
            case="SeqNo and PrevNo of EodNextSeq",
            evidence=evidence,
        )
    outgoing.acknowledge_all()


@needs("send", "management", "transactions")
@covers("MQQB-3.1.1.5-02")
def test_sequence_info_of_every_message_of_a_transaction_is_kept(peer, sut, judge):
    """An application sends three messages in one transaction, and the peer sends the OrderAck of the first message.
    OutgoingTransferInfo shows the SEQUENCE_INFO of the second and of the third message as unacknowledged.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-places-of-transaction")
    outgoing.tags = [peer.next_message_id() for _ in range(3)]
    transaction = sut.control.call("begin")["transaction"]
    for tag in outgoing.tags:
        sut.send(outgoing.to, body=f"message {tag}", application_tag=tag, transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    _, outgoing.sent = outgoing.sender.await_first_messages(len(outgoing.tags))
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(1)
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    info = outgoing.read_transfer_info()
    judge(
        "MQQB-3.1.1.5-02",
        expected=[get_sequence_info(one) for one in outgoing.sent[1:]],
        observed=[read_sequence_info_of_transfer(info, name) for name in ("EodFirstNonAck", "EodLastNonAck")],
        case="SEQUENCE_INFO of the first and the last unacknowledged message",
        evidence=[*outgoing.sent, frame],
    )
    outgoing.acknowledge_all()


@needs("send", "management", "pause")
@covers("MQQB-3.1.1.5-D02")
def test_sequence_info_has_the_numbers_of_messages_around_expired_messages(peer, sut, judge):
    """The SUT has six transactional messages for an unreachable queue of the peer, and every other message expires
    before the SUT connects. The SUT sends three messages. Then an application pauses the queue and sends two more
    messages, the first of which expires before the queue is resumed. After the OrderAck of each of the first three
    messages that the SUT sent, OutgoingTransferInfo shows the numbers of the first and of the last unacknowledged
    message.
    """
    name = "mqc-gaps"
    waiting, later = list(LIFETIME_S_BY_TAG)[:-2], list(LIFETIME_S_BY_TAG)[-2:]

    def send_messages_and_await_expiry(tags):
        for tag in tags:
            own = {"body": f"message {tag}", "application_tag": tag, "delivery": "transactional"}
            sut.send(peer.direct_name(name), **own, time_to_reach_queue_s=LIFETIME_S_BY_TAG[tag])
        peer.pass_time(EXPIRY_WAIT_MS)

    send_messages_and_await_expiry(waiting)
    outgoing = SequenceSentBySut(peer, sut, name)
    outgoing.tags = [tag for tag, life_s in LIFETIME_S_BY_TAG.items() if life_s == LONG_LIFETIME_S]
    session = outgoing.sender.await_session()
    outgoing.sender.collect_messages_until_silence(session, len(outgoing.tags) - 1)
    outgoing.send_session_ack()
    sut.pause(outgoing.to)
    send_messages_and_await_expiry(later)
    sut.resume(outgoing.to)
    outgoing.sent = outgoing.sender.collect_messages_until_silence(session, len(outgoing.tags))
    if Sender.list_tags(outgoing.sent) != outgoing.tags:
        raise ConformanceFailure("the SUT did not send exactly the messages that have not expired")
    outgoing.send_session_ack()
    for number in range(1, len(outgoing.sent)):
        frame = outgoing.send_order_ack(number)
        outgoing.await_transfer_info_value("EodNoAckCount", len(outgoing.sent) - number)
        info = outgoing.read_transfer_info()
        judge(
            "MQQB-3.1.1.5-D02",
            expected=list_sequence_numbers([outgoing.sent[number], outgoing.sent[-1]]),
            observed=[
                read_sequence_info_of_transfer(info, element)[1] for element in ("EodFirstNonAck", "EodLastNonAck")
            ],
            case=f"SeqNo of the first and the last unacknowledged message after OrderAck {number}",
            evidence=[*outgoing.sent, frame],
        )
    outgoing.acknowledge_all()
