"""MS-MQMQ 2.2.20: the SessionHeader of messages that the SUT sends again on a new session."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender

SESSION_HEADER_BYTES = 16
BASE_HEADER_BYTES = 16
FLAGS_BYTE_RANGE, PACKET_SIZE_BYTE_RANGE = (2, 4), (8, 12)
"""The offsets of the first byte of a field and of the byte after the field (MS-MQMQ 2.2.19.1)."""
SH_BIT = 0x10
"""BaseHeader.Flags.SH."""
WAITED_SHARE_OF_ACK_DELAY = 0.85
"""The time at which the SUT sends, as a fraction of the time after which it acknowledges messages of the peer."""
MAX_ATTEMPTS = 5


@needs("send")
@covers("MQMQ-2.2.20-09")
def test_message_sent_again_has_session_header_only_with_sh(peer, sut, judge):
    """The SUT sends a message shortly before its acknowledgment timer expires, so that the message has a SessionHeader.
    The peer closes the session without an acknowledgment, and the SUT sends the message again on a session on which it
    has nothing to acknowledge. Each message with SH 1 is 16 bytes longer than PacketSize, and each message with SH 0 is
    as long as PacketSize.
    """
    sut.limit_time_scale(10)
    sender = Sender(peer, sut)
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    delay_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout // 2
    for number in range(2, 2 + MAX_ATTEMPTS):
        session.acknowledge_all()
        session.send(peer.message())
        peer.pass_time(sut.duration_ms(int(delay_ms * WAITED_SHARE_OF_ACK_DELAY)))
        sender.send(number, delivery="recoverable")
        sent = sender.collect_messages(session, number)
        if len(sent) < number or sent[-1]["BaseHeader"].SH:
            break
        peer.pass_time(sut.duration_ms(delay_ms))  # until the message is acknowledged
    if len(sent) < number or not sent[-1]["BaseHeader"].SH:
        raise ConformanceFailure("the SUT sent no message with a SessionHeader")
    known = len(peer.inbox.packets_with_possibly_malformed_messages)
    session.close()
    later = sender.await_session()
    peer.environment.run_until(
        lambda: len(peer.inbox.packets_with_possibly_malformed_messages) > known, sut.response_timeout_ms
    )
    again = peer.inbox.packets_with_possibly_malformed_messages[known:]
    whole = [_does_sh_flag_agree_with_length(frame.data, len(frame.data)) for frame in (*sent, *again)]
    if not again:
        held = later.record.framer
        if not _is_message_without_announced_header(held.first_bytes, held.pending_size):
            raise ConformanceFailure("the SUT did not send the unacknowledged message again")
        whole.append(False)
    judge(
        "MQMQ-2.2.20-09",
        expected=each(True, "message with a SessionHeader if and only if SH is 1"),
        observed=whole,
        evidence=[*sent, *again],
    )
    later.acknowledge_all()


def _does_sh_flag_agree_with_length(data, length):
    """Return whether SH of a packet agrees with the number of its bytes that PacketSize does not count."""
    flags, size = (
        int.from_bytes(data[start:end], "little") for start, end in (FLAGS_BYTE_RANGE, PACKET_SIZE_BYTE_RANGE)
    )
    return length - size == (SESSION_HEADER_BYTES if flags & SH_BIT else 0)


def _is_message_without_announced_header(data, length):
    """Return whether the incomplete packet has SH 1 and ends where PacketSize ends, so that only the SessionHeader is
    missing.
    """
    flags, size = (
        int.from_bytes(data[start:end], "little") for start, end in (FLAGS_BYTE_RANGE, PACKET_SIZE_BYTE_RANGE)
    )
    return length >= BASE_HEADER_BYTES and bool(flags & SH_BIT) and length == size
