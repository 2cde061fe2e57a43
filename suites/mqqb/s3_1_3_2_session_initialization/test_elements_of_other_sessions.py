"""MS-MQQB 3.1.3.2 Session Initialization: sessions that begin while another queue has an unacknowledged sequence and
another session has unacknowledged messages.
"""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.s3_1_3_2_session_initialization.connections import open_connection_without_packets
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut

LONG_ACK_TIMEOUT_MS = 120_000
"""An AckTimeout in ms that is so long that the SUT does not acknowledge a message during the check."""
GREATEST_TIMER_SPEED_UP = 2
"""The greatest speed-up of timers at which LONG_ACK_TIMEOUT_MS is still long enough for the check."""
SHORT_RESEND_ENTRY_COUNT = 3
"""The number of equal entries at the beginning of ResendTimerTable."""
MAXIMUM_ORDER_ACK_DELAY_S = 10
COUNT_OF_MESSAGES_LEFT_UNACKNOWLEDGED = 3
INITIAL_VALUE_BY_RULE: dict[str, tuple[str, Any]] = {
    "MQQB-3.1.3.2-08": ("UnackedReceivedMsgCount", 0),
    "MQQB-3.1.3.2-29": ("DirectFormatSession", False),
    "MQQB-3.1.3.2-30": ("MaximumOrderAckDelay", MAXIMUM_ORDER_ACK_DELAY_S),
}
"""Elements of a session and their initial values, by rule."""


def _judge_initial_values(judge, session: dict[str, Any], case: str, evidence) -> None:
    for rule, (name, value) in INITIAL_VALUE_BY_RULE.items():
        judge(
            rule,
            expected=value,
            observed=read_data_model_element(session, name),
            case=f"{name}, {case}",
            evidence=evidence,
        )


@needs("inspect")
@covers("MQQB-3.1.3.2-08", "MQQB-3.1.3.2-29", "MQQB-3.1.3.2-30")
def test_accepted_session_has_no_values_of_other_session(peer, sut, judge):
    """On a session, the peer sends messages to direct names that the SUT does not acknowledge yet. A second connection
    begins with its own initial elements.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    held = peer.open_raw(AckTimeout=LONG_ACK_TIMEOUT_MS)
    sent = [held.send(peer.message()) for _ in range(COUNT_OF_MESSAGES_LEFT_UNACKNOWLEDGED)]
    peer.settle()
    _judge_initial_values(judge, open_connection_without_packets(peer, sut), "second session", sent)


@needs("send", "inspect")
@covers(
    "MQQB-3.1.3.2-08",
    "MQQB-3.1.3.2-18",
    "MQQB-3.1.3.2-19",
    "MQQB-3.1.3.2-20",
    "MQQB-3.1.3.2-29",
    "MQQB-3.1.3.2-30",
)
def test_initiated_session_has_no_values_of_other_queue(peer, sut, judge):
    """One of two messages to a queue has an OrderAck, and the SUT has resent the other message three times. On another
    session, the peer has sent messages to direct names. When the SUT requests a session for a second queue, this
    session has its own initial elements.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    outgoing = SequenceSentBySut(peer, sut, "mqc-values-first")
    outgoing.send(2)
    outgoing.send_session_ack()
    outgoing.send_order_ack(1)
    for _ in range(SHORT_RESEND_ENTRY_COUNT):
        if outgoing.await_resend(2) != RESENT_OUTCOME:
            raise ConformanceFailure("the SUT did not send its message again")
        outgoing.send_session_ack()
    held = peer.open_raw(AckTimeout=LONG_ACK_TIMEOUT_MS)
    evidence = [held.send(peer.message()) for _ in range(COUNT_OF_MESSAGES_LEFT_UNACKNOWLEDGED)]
    while peer.has_unawaited_connection:  # the sessions of the first queue
        peer.await_session(0)
    peer.change_packets_of_accepted_sessions(lambda packet: None)
    to = peer.direct_name("mqc-values-second")
    sut.send(to, body="for the second queue", delivery="express", time_to_reach_queue_s=600)
    session = peer.await_session(sut.connect_timeout_ms)
    if session is None:
        raise ConformanceFailure("the SUT did not connect for its message to the second queue")
    evidence.append(session.expect("EstablishConnection"))
    shown = find_initiated_session(sut, to)
    _judge_initial_values(judge, shown, "session for the second queue", evidence)
    sequence = read_data_model_element(shown, "TxOutgoingSequence")
    if sequence is None:
        raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
    first_interval = read_data_model_element(sut.inspect()["QueueManager"], "ResendTimerTable")[0]
    for rule, name, value in (
        ("MQQB-3.1.3.2-18", "LastAckCount", 0),
        ("MQQB-3.1.3.2-19", "ResendIntervalIndex", 0),
        ("MQQB-3.1.3.2-20", "ResendInterval", first_interval),
    ):
        judge(rule, expected=value, observed=read_data_model_element(sequence, name), case=name, evidence=evidence)
    judge.conclude()
    peer.change_packets_of_accepted_sessions(None)
    session.close()
    peer.inbox.wait(lambda frame: not frame["UserHeader"].TH)
    peer.inbox.acknowledge()
    outgoing.await_session()
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.3.2-23")
def test_waiting_messages_of_second_queue_are_sent_without_acknowledgment(peer, sut, judge):
    """The SUT sends three messages to each of two queues. It sends all messages, although the peer acknowledges none of
    them.
    """
    sender = Sender(peer, sut)
    for queue, tags in (("mqc-waiting-first", [1, 2, 3]), ("mqc-waiting-second", [4, 5, 6])):
        sender.to = peer.direct_name(queue)
        sender.send(*tags)
        came = peer.inbox.wait(lambda frame, tags=tags: Sender.list_tags([frame])[0] in tags, len(tags))
        judge(
            "MQQB-3.1.3.2-23",
            expected=tags,
            observed=sorted(Sender.list_tags(came)),
            case=f"numbers of the messages to {queue} without an acknowledgment",
            evidence=came,
        )
    peer.inbox.acknowledge()
