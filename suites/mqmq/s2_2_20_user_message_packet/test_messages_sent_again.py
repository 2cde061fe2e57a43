"""MS-MQMQ 2.2.20: the SessionHeader of messages that the SUT sends again on a new session."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.peer.conversation import USER_MESSAGE_KIND
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

SESSION_HEADER_BYTES = 16
SHARE_OF_ACK_DELAY = 0.85
"""The time at which the SUT sends, as a fraction of the time after which it acknowledges messages of the peer."""
MAX_ATTEMPTS = 5


@needs("send")
@covers("MQMQ-2.2.20-09")
def test_message_sent_again_has_session_header_only_with_sh(peer, sut, judge):
    """The SUT sends a message shortly before its acknowledgment timer expires, so that the message has a SessionHeader.
    The peer closes the session without an acknowledgment. The SUT sends the message again on a session on which it has
    nothing to acknowledge, and a further message after it. Each packet is 16 bytes longer than PacketSize if SH is 1,
    and as long as PacketSize if SH is 0; otherwise the next packet does not begin where the peer expects it.
    """
    sut.limit_time_scale(10)
    sender = Sender(peer, sut)
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    delay_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout // 2
    for number in range(2, 2 + MAX_ATTEMPTS):
        session.acknowledge_all()
        session.send(peer.message())
        peer.pass_time(sut.duration_ms(int(delay_ms * SHARE_OF_ACK_DELAY)))
        sender.send(number, delivery="recoverable")
        sent = sender.collect(session, number)
        if len(sent) < number or sent[-1]["BaseHeader"].SH:
            break
        peer.pass_time(sut.duration_ms(delay_ms))  # until the message is acknowledged
    if len(sent) < number or not sent[-1]["BaseHeader"].SH:
        raise ConformanceFailure("the SUT sent no message with a SessionHeader")
    known = len(peer.inbox.pieces)
    session.close()
    later = sender.await_session()
    peer.settle()
    sender.send(number + 1, delivery="recoverable")
    peer.environment.run_until(lambda: len(peer.inbox.pieces) >= known + 2, sut.response_timeout_ms)
    again = peer.inbox.pieces[known:]
    if not again:
        raise ConformanceFailure("the SUT sent no message on the new session")
    judge(
        "MQMQ-2.2.20-09",
        expected=each(True, "message whose SH agrees with its length"),
        observed=[_is_whole_message(frame) for frame in (*sent, *again)],
        evidence=[sent[-1], *again],
    )
    later.acknowledge_all()


def _is_whole_message(frame):
    """Return whether a packet is a message whose SH agrees with the number of bytes that PacketSize does not count."""
    size = int.from_bytes(frame.data[8:12], "little")
    bit = Layout(frame).fields.get("BaseHeader.Flags.SH", 0)
    return frame.kind == USER_MESSAGE_KIND and len(frame.data) - size == bit * SESSION_HEADER_BYTES
