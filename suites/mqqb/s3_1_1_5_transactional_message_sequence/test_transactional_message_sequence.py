"""MS-MQQB 3.1.1.5 Transactional Message Sequence: the SEQUENCE_INFO of each sent message."""

from __future__ import annotations

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_element
from suites.mqqb.steps.sequences import Outgoing, get_sequence_info, read_info_place

SEQUENCE_PARTS = {"MQQB-3.1.1.5-D01": "SeqID", "MQQB-3.1.1.5-D02": "SeqNo", "MQQB-3.1.1.5-D03": "PrevNo"}


@needs("send", "management")
@covers(
    "MQQB-3.1.1.5-01",
    "MQQB-3.1.1.5-02",
    "MQQB-3.1.3.2-18",
    "MQQB-3.1.7.1.3-06",
    "MQQB-3.1.7.1.3-07",
    *SEQUENCE_PARTS,
)
def test_sequence_info_of_unacknowledged_messages_is_kept(peer, sut, judge):
    """A sequence of one message ends. Then the SUT sends five messages, and the peer acknowledges three of them one by
    one: each time, OutgoingTransferInfo shows the SEQUENCE_INFO of the first and of the last unacknowledged message.
    """
    outgoing = Outgoing(peer, sut, "mqc-places")
    outgoing.send()
    outgoing.acknowledge_all()
    sent = outgoing.send(5)
    outgoing.send_session_ack()
    for number in (1, 2, 3):
        frame = outgoing.send_order_ack(number + 1)
        outgoing.await_info("EodLastAckCount", number + 1)
        info = outgoing.read_transfer_info()
        judge(
            "MQQB-3.1.3.2-18",
            expected=number + 1,
            observed=read_element(info, "EodLastAckCount"),
            case="EodLastAckCount",
            evidence=frame,
        )
        found = [read_info_place(info, name) for name in ("EodFirstNonAck", "EodLastNonAck")]
        expected = [get_sequence_info(sent[number]), get_sequence_info(sent[-1])]
        evidence = [sent[number], sent[-1], frame]
        left = read_element(info, "EodNoAckCount")
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
        for at, (rule, name) in enumerate(SEQUENCE_PARTS.items()):
            expected_part, shown_part = [one[at] for one in expected], [one[at] for one in found]
            judge(rule, expected=fields({name: expected_part}), observed={name: shown_part}, evidence=evidence)
    outgoing.acknowledge_all()
