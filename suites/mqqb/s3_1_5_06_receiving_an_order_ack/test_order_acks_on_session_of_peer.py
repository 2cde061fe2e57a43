"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: an OrderAck on another session than that of its message."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut


@needs("send", "inspect")
@covers("MQQB-3.1.5.6-11")
def test_order_ack_on_session_of_peer_resets_resend_interval_index(peer, sut, judge):
    """The SUT resends the only message of a sequence. The peer sends the OrderAck of the message on a session that the
    peer opened. Afterwards, ResendIntervalIndex is 0.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-elsewhere")
    sent = outgoing.send()
    outgoing.send_session_ack()
    if outgoing.await_resend(1) != RESENT_OUTCOME:
        raise ConformanceFailure("the message was not resent, so it is uncertain whether ResendIntervalIndex changed")
    outgoing.send_session_ack()
    raised = read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex")
    carrier = peer.open_raw()
    frame = carrier.send(build_order_ack(peer, sent[-1]))
    if not peer.eventually(lambda: not outgoing.list_unacknowledged_numbers()):
        raise ConformanceFailure("the OrderAck on the session of the peer did not empty UnackedSequence")
    if not raised:
        judge.mark_not_exercised("MQQB-3.1.5.6-11", reason="a resend does not increase ResendIntervalIndex (E46)")
        return
    judge(
        "MQQB-3.1.5.6-11",
        expected=0,
        observed=read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex"),
        case="ResendIntervalIndex after a resend and an OrderAck on a session of the peer",
        evidence=[sent[-1], frame],
    )
