"""MS-MQQB 3.1.6.3 Session Ack Wait Timer Event, and the restart of its timer in 3.1.5.5.5.

The timer's duration is a multiple of AckWaitTimeout that the implementation chooses (3.1.2.4, note <46>). The check
therefore measures this duration first: it opens a session, sends only two messages to the SUT, and measures when the
SUT closes the session.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut, holds, one_of
from harness.judging.judge import Judge
from harness.peer.conversation import Conversation
from harness.run.marks import covers
from suites.mqqb.steps.acknowledging import (
    MESSAGE_AS_HEADER_CARRIER,
    SESSION_ACK_AS_HEADER_CARRIER,
    send_session_header_in_carrier,
)
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.sender import Sender

LONGEST_WAIT_IN_TIMEOUTS = 8
"""The number of AckWaitTimeouts for which the check waits for the end of a session."""
TOLERANCE_IN_TIMEOUTS = 0.25
"""The tolerance of a measured instant, in AckWaitTimeouts."""
PEER_MESSAGE_INSTANTS = (0.5, 1.5)
"""The instants, in AckWaitTimeouts, at which the peer sends its messages."""


@covers(
    "MQQB-3.1.5.5.5-02",
    "MQQB-3.1.6.3-01",
    "MQQB-3.1.6.3-02",
    "MQQB-3.1.6.3-03",
    "MQQB-3.1.6.3-04",
    "MQQB-3.1.2.4-01",
    "MQQB-3.1.7.1.3-27",
    "MQQB-3.1.5.9-03",
    "MQQB-3.1.5.9-04",
    "MQQB-3.1.5.9-D02",
)
def test_sender_closes_session_when_ack_wait_timer_expires(peer, sut, judge):
    """The SUT sends messages on four sessions. On the first session, the peer acknowledges no message. On the second
    session, the peer acknowledges only the first of three messages. On the third session, the peer sends a SessionAck
    while the Session Ack Wait Timer runs. On the fourth session, the peer sends a message with a SessionHeader while
    this timer runs. The received packets determine at which expiry of the timer the SUT closes each session.
    """
    private = f"PRIVATE={peer.identifier}\\00000001"  # half the wait of a direct name in Windows (note <46>)
    sender = Sender(peer, sut, private if sut.has("private_names") and sut.has("send") else None)
    clock = AckWaitClock(sender)
    beside = peer.open_raw({"ClientGuid": OTHER_GUID})  # a session that carries no message of the SUT (E16)
    sender.send(1)

    clock.begin(sender.await_session())
    for at in PEER_MESSAGE_INSTANTS:
        if clock.wait(at):
            clock.session.send(peer.message())
    wait = measure_ack_wait_timer(clock.await_session_close())
    if clock.await_session_close() is None:
        judge(
            "MQQB-3.1.5.9-D02",
            "MQQB-3.1.6.3-01",
            "MQQB-3.1.6.3-03",
            "MQQB-3.1.6.3-04",
            expected=connection_closed_by_sut(),
            observed=clock.session,
            evidence=[clock.first],
        )
    whole = holds("the SUT closed the session when a multiple of AckWaitTimeout had passed since its message")
    ended = clock.await_session_close()
    judge(
        "MQQB-3.1.2.4-01",
        expected=whole,
        observed=(ended is not None and is_instant_within_tolerance(ended, round(ended))) or clock.describe_end(),
        evidence=[clock.first],
    )
    judge("MQQB-3.1.5.9-D02", expected=connection_closed_by_sut(), observed=clock.session, evidence=[clock.first])
    peer.settle()
    if sut.has("queue_control"):
        state = sut.outgoing(sender.to)["state"]
        left = one_of("Disconnected", "Waiting")  # Waiting: the SUT has begun to connect again
        judge("MQQB-3.1.5.9-03", expected=left, observed=state, case="State of the queue", evidence=[clock.first])
    else:
        judge.mark_not_exercised("MQQB-3.1.5.9-03", reason="the SUT does not show the State of its queue")
    judge(
        "MQQB-3.1.6.3-03",
        expected=holds("open", otherwise="closed"),
        observed=not beside.closed_by_sut,
        case="other session",
        evidence=[clock.first],
    )
    if wait is None:
        raise ConformanceFailure(f"the duration of the SUT's Session Ack Wait Timer is unknown: {clock.describe_end()}")

    again = sender.poll_session()
    judge(
        "MQQB-3.1.5.9-04",
        expected=holds("the SUT connected again"),
        observed=again is not None or "not connected again",
        case="after the session without an acknowledgment",
        evidence=[clock.first, *(again.received[:1] if again else [])],
    )
    judge.conclude("MQQB-3.1.5.9-03", "MQQB-3.1.5.9-04", "MQQB-3.1.5.9-D02")
    if again is None:
        raise ConformanceFailure("the SUT did not connect again")
    clock.begin(again)
    acknowledged = clock.session.acknowledge_all()
    clock.wait(wait + 0.5)
    sender.send(2, delivery="recoverable")
    clock.begin(clock.session)
    if clock.wait(wait / 2):
        sender.send(3, delivery="recoverable")
    expected = holds(f"the SUT closed the session {wait:.2f} times AckWaitTimeout after its message")
    judge(
        "MQQB-3.1.6.3-01",
        "MQQB-3.1.6.3-02",
        "MQQB-3.1.6.3-03",
        "MQQB-3.1.2.4-01",
        "MQQB-3.1.7.1.3-27",
        expected=expected,
        observed=is_instant_within_tolerance(clock.await_session_close(), wait) or clock.describe_end(),
        evidence=[acknowledged, clock.first],
    )
    judge.conclude("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-02", "MQQB-3.1.6.3-03", "MQQB-3.1.2.4-01")

    for carrier in (SESSION_ACK_AS_HEADER_CARRIER, MESSAGE_AS_HEADER_CARRIER):
        _judge_ack_wait_timer_restart(judge, sender, clock, wait, carrier)
    judge.conclude("MQQB-3.1.6.3-04")
    sender.await_session().acknowledge_all()


def _judge_ack_wait_timer_restart(judge: Judge, sender: Sender, clock: AckWaitClock, wait: int, carrier: str) -> None:
    """Judge when the SUT closes a session on which the peer sends a SessionHeader that acknowledges no message."""
    clock.begin(sender.await_session())
    clock.wait(wait / 2)
    acknowledged = send_session_header_in_carrier(carrier, clock.session)
    ended = clock.await_session_close()
    outlived = holds(f"the SUT closed the session later than {1.5 * wait:.2f} times AckWaitTimeout after its message")
    judge(
        "MQQB-3.1.6.3-04",
        expected=outlived,
        observed=(ended is not None and ended > 1.5 * wait + TOLERANCE_IN_TIMEOUTS) or clock.describe_end(),
        evidence=[clock.first, acknowledged],
    )
    restarted = holds(
        f"the time from the {carrier} to the end of the session is a multiple of {wait} times AckWaitTimeout"
    )
    judge(
        "MQQB-3.1.5.5.5-02",
        expected=restarted,
        observed=is_instant_within_tolerance(ended, 1.5 * wait)
        or is_instant_within_tolerance(ended, 2.5 * wait)
        or clock.describe_end(),
        evidence=[clock.first, acknowledged],
    )


def measure_ack_wait_timer(ended: float | None) -> int | None:
    """Return the duration of the Session Ack Wait Timer, in AckWaitTimeouts. ``ended`` is the time at which the SUT
    closed a session on which the peer sent its messages at PEER_MESSAGE_INSTANTS.

    When the timer expires, the SUT closes the session unless a packet has arrived since the start of the timer. With a
    duration of 1, the timer expires twice before its third expiry closes the session, at 3. With a longer duration n,
    the second expiry closes the session, at 2 n. If only acknowledgments count as packets (E50), or no packet counts,
    the SUT closes the session at n.
    """
    ends = {1: 1, 2: 2, 3: 1} | {2 * wait: wait for wait in range(2, LONGEST_WAIT_IN_TIMEOUTS // 2 + 1)}
    return next((wait for end, wait in ends.items() if is_instant_within_tolerance(ended, end)), None)


def is_instant_within_tolerance(instant: float | None, expected: float) -> bool:
    """Return whether an instant is within the tolerance of the expected instant."""
    return instant is not None and abs(instant - expected) <= TOLERANCE_IN_TIMEOUTS


class AckWaitClock:
    """Measures the time since a message from the SUT, in AckWaitTimeouts."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender

    def begin(self, session: Conversation) -> None:
        """Start the measurement with the next message of a session."""
        self.session = session
        parameters = [frame for frame in session.received if frame.kind == "ConnectionParameters"]
        self.first: Frame = session.expect("UserMessage")
        self._unit_ms = self.sender.sut.duration_ms(parameters[0]["ConnectionParametersHeader"].AckTimeout)

    def wait(self, until: float) -> bool:
        """Wait until an instant by the tester's clock; return whether the session is still open."""
        return not self.session.wait_closed(self._get_remaining_wait_ms(until), exactly=True)

    def _get_remaining_wait_ms(self, until: float) -> int:
        return max(0, int(until * self._unit_ms) - self.sender.peer.measure_duration(self.first).ms)

    def await_session_close(self) -> float | None:
        """Wait for the SUT to close the session; return the instant of the close, or None if the SUT
        does not close the session.

        Raise ConformanceFailure if delays of the tester make two instants indistinguishable.
        """
        self.session.wait_closed(self._get_remaining_wait_ms(LONGEST_WAIT_IN_TIMEOUTS + TOLERANCE_IN_TIMEOUTS))
        closed_ms = self.session.record.closed_at_ms
        if closed_ms is None:
            return None
        took = self.sender.peer.measure_duration(self.first, closed_ms)
        took.require_duration_without_long_stall(int(2 * TOLERANCE_IN_TIMEOUTS * self._unit_ms))
        return took.ms / self._unit_ms

    def describe_end(self) -> str:
        """Describe how the session ended."""
        ended = self.await_session_close()
        if ended is None:
            sent = len(self.session.messages)
            return f"still open {LONGEST_WAIT_IN_TIMEOUTS} times AckWaitTimeout after its message ({sent} sent)"
        return f"closed {ended:.2f} times AckWaitTimeout after its message"
