"""MS-MQQB 3.1.1.5 Transactional Message Sequence: the SEQUENCE_INFO of a message whose predecessor is acknowledged."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_info


@needs("send", "inspect")
@covers("MQQB-3.1.1.5-01")
def test_message_after_order_ack_records_its_predecessor(peer, sut, judge):
    """The peer acknowledges a transactional message by an OrderAck, but not by a SessionAck. The SEQUENCE_INFO of the
    next message contains its sequence, its number and the previous number.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-recorded")
    outgoing.send()
    ack = outgoing.send_order_ack(1)
    if not peer.eventually(lambda: not outgoing.list_unacknowledged_numbers()):
        raise ConformanceFailure("the OrderAck did not empty UnackedSequence")
    [sent] = outgoing.send()
    shown = read_data_model_element(outgoing.read_sequence(), "UnackedSequence")
    judge(
        "MQQB-3.1.1.5-01",
        expected=[get_sequence_info(sent)],
        observed=[tuple(int(one[name]) for name in ("SeqID", "SeqNo", "PrevNo")) for one in shown[-1:]],
        case="SEQUENCE_INFO of the message after the OrderAck",
        evidence=[ack, sent],
    )
    outgoing.acknowledge_all()
