"""MS-MQQB 3.1.1.6.1 Session Acknowledgment: acknowledgments of many messages, and several acknowledgments."""

from __future__ import annotations

from harness.expectations import none
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs
from suites.mqqb.steps.outgoing_session import await_session_of_sut
from suites.mqqb.steps.sequences import SequenceSentBySut

MESSAGE_COUNT = 24
"""The number of messages that one SessionAck acknowledges; their flags need the high 16 bits."""


@needs("send")
@covers("MQQB-3.1.1.6.1-02")
def test_messages_of_high_flags_are_discarded(peer, sut, judge):
    """The SUT sends 24 recoverable messages, and the peer acknowledges all of them by one SessionAck. The SUT sends
    none of them on the next session.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-many-flags")
    sent = outgoing.send(MESSAGE_COUNT, "recoverable")
    ack = outgoing.send_session_ack()
    outgoing.session.close()
    outgoing.send(1, "recoverable")
    session = outgoing.await_session()
    while not session.stays_quiet():
        pass
    again = [number for number in outgoing.list_sequence_numbers_on_session(session) if number <= MESSAGE_COUNT]
    judge(
        "MQQB-3.1.1.6.1-02",
        expected=none("acknowledged message sent again"),
        observed=again,
        evidence=[*sent, ack, session.last],
    )
    outgoing.send_session_ack()


@covers("MQQB-3.1.1.6.1-03", "MQQB-3.1.1.6.1-04")
def test_acknowledgments_of_express_messages_have_no_recoverable_number(peer, sut, judge):
    """On a session that the peer opened, the peer sends three express messages; it sends each message only after the
    preceding one has been acknowledged. The peer does the same on a session that the SUT opened.
    RecoverableMsgAckSeqNumber and RecoverableMsgAckFlags are 0 in each acknowledgment.
    """
    sut.limit_time_scale(10)
    for session in (peer.open_raw(AckTimeout=ACK_TIMEOUT_MS), await_session_of_sut(peer, sut)):
        for number in (1, 2, 3):
            sent = session.send(peer.message())
            answer = _await_session_ack_of_message_count(session, sut, number)
            header = answer["SessionHeader"]
            for rule, value in (
                ("MQQB-3.1.1.6.1-03", header.RecoverableMsgAckSeqNumber),
                ("MQQB-3.1.1.6.1-04", header.RecoverableMsgAckFlags),
            ):
                case = f"field for recoverable messages in SessionAck {number}"
                judge(rule, expected=0, observed=value, case=case, evidence=[sent, answer])


def _await_session_ack_of_message_count(session, sut, number: int):
    """Wait for the SessionAck that acknowledges the given number of messages."""
    return session.expect(
        "SessionAck",
        lambda frame: frame["SessionHeader"].AckSequenceNumber == number,
        within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS),
    )
