"""MS-MQQB 3.1.6.9 Order Ack Send Timer Event: LastOrderAckSendTime after a repeated OrderAck, on the sessions of either
side.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between
from harness.run.marks import covers, malforms, needs
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, find_accepted_session, find_initiated_session
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.provoking import make_sut_send_message

ORDER_ACK_REPETITION_DELAY_MS = 3_000
"""The time in ms between the messages; the times of their OrderAcks, in whole seconds, must differ."""


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("inspect")
@covers("MQQB-3.1.6.9-02")
@pytest.mark.parametrize("opened_by", ["peer", pytest.param("SUT", marks=needs("send"))])
def test_last_order_ack_send_time_is_that_of_each_order_ack(peer, sut, judge, opened_by):
    """On a session that the peer or the SUT opened, the peer sends the first message of a sequence, and later sends it
    again. The SUT sends an OrderAck each time, and LastOrderAckSendTime of the session is the time of the last one.
    """
    receiver = Receiver(peer, sut)
    if opened_by == "SUT":
        receiver.session.close()
        peer.settle()
        known = len(peer.inbox.messages)
        make_sut_send_message(peer, sut, peer.direct_name())
        peer.inbox.wait(lambda frame: True, known + 1)
        came = peer.inbox.messages[known:]
        if not came or came[0].connection is None or came[0].connection.sut_role != "initiator":
            raise ConformanceFailure("the SUT opened no session for its message")
        receiver.session = peer.inbox.conversation(came[0])
        receiver.session.acknowledge_all()

    def read_send_time_s() -> int:
        if opened_by == "SUT":
            shown = find_initiated_session(sut, peer.direct_name())
        else:
            shown = find_accepted_session(sut, peer.identifier)
        return int(read_data_model_element(shown, "LastOrderAckSendTime"))

    for turn in (1, 2):
        peer.pass_time(ORDER_ACK_REPETITION_DELAY_MS)
        before_s, now_s = read_send_time_s(), peer.environment.now().utc_s
        receiver.sequence.number = 0
        sent = receiver.send()
        ack = receiver.await_acknowledgment()
        peer.settle()
        soonest = min(before_s + ORDER_ACK_REPETITION_DELAY_MS // 2_000, now_s)
        judge(
            "MQQB-3.1.6.9-02",
            expected=between(soonest, peer.environment.now().utc_s + CLOCK_TOLERANCE_S),
            observed=read_send_time_s(),
            case=f"LastOrderAckSendTime after OrderAck {turn}",
            evidence=[sent, ack],
        )
    peer.inbox.acknowledge()
