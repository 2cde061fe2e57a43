"""MS-MQQB 3.1.6.3 Session Ack Wait Timer Event, and its restart in 3.1.5.5.5.

The timer's duration is a multiple of AckWaitTimeout that the implementation chooses (3.1.2.4, note <46>): it is
measured first, by a session that hears two messages of the peer, and no acknowledgment, and is closed then.
"""

from __future__ import annotations

import pytest

from harness.conversation import Session
from harness.errors import ConformanceFailure
from harness.recorder import Frame
from harness.wire import session_ack
from suites.mqqb.opening import message
from suites.mqqb.sender import Sender, messages

LONGEST = 8
"""AckWaitTimeouts after which a session that is not closed counts as never closed."""
NEAR = 0.25
"""How far, in AckWaitTimeouts, an instant may be from where it is expected."""
OUTLIVED = "open while packets came, closed after the wait in which none came"


@pytest.mark.covers(
    "MQQB-3.1.5.5.5-02",
    "MQQB-3.1.6.3-01",
    "MQQB-3.1.6.3-02",
    "MQQB-3.1.6.3-03",
    "MQQB-3.1.6.3-04",
)
@pytest.mark.needs("send")
def test_session_whose_messages_are_not_acknowledged_is_closed(peer, sut, judge):
    """Three sessions of one sender, each ended by the sender's wait at another time, for what it heard before."""
    sender = Sender(peer, sut, direct=not sut.has("private_names"))
    clock = Waits(sender)
    sender.send(1)

    clock.begin(sender.session())
    heard = None
    for at in (0.5, 1.5):
        if clock.wait(at):
            heard = clock.session.send(message(sut, peer.message_id(), recoverable=False))
    ended = clock.ended()
    measured = _multiple(ended)
    judge(
        "MQQB-3.1.6.3-04",
        expected=OUTLIVED,
        observed=OUTLIVED if measured else clock.ending(ended),
        evidence=[clock.first, heard],
    )
    if ended is None:
        for rule in ("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"):
            judge(rule, expected="closed", observed=clock.ending(ended), evidence=[clock.first, heard])
    if measured is None:
        raise ConformanceFailure(f"the duration of its Session Ack Wait Timer is not known: {clock.ending(ended)}")

    clock.begin(sender.session())
    acknowledged = sender.acknowledge_all(clock.session)
    clock.wait(measured + 0.5)
    sender.send(2)
    unheard = clock.next_message()
    ended = clock.ended()
    expected = f"closed {measured:.1f} AckWaitTimeouts after the message"
    for rule in ("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-02", "MQQB-3.1.6.3-03"):
        judge(
            rule,
            expected=expected,
            observed=expected if _near(ended, measured) else clock.ending(ended),
            evidence=[acknowledged, unheard],
        )

    clock.begin(sender.session())
    clock.wait(measured / 2)
    heard = clock.session.send(session_ack())
    ended = clock.ended()
    expected = f"closed {2 * measured:.1f} AckWaitTimeouts after the SessionAck"
    since = None if ended is None else ended - measured / 2
    judge(
        "MQQB-3.1.5.5.5-02",
        expected=expected,
        observed=expected if _near(since, 2 * measured) else clock.ending(ended),
        evidence=[clock.first, heard],
    )
    sender.acknowledge_all(sender.session())


def _multiple(ended: float | None) -> int | None:
    """Give the timer's duration in AckWaitTimeouts.

    The session heard packets 0.5 and 1.5 after its message. A wait of 1 expires twice with something heard and is the
    third that closes; a longer wait of n expires once so, and closes at 2 n.
    """
    if _near(ended, 3):
        return 1
    return next((wait for wait in range(2, LONGEST // 2 + 1) if _near(ended, 2 * wait)), None)


def _near(instant: float | None, expected: float) -> bool:
    return instant is not None and abs(instant - expected) <= NEAR


class Waits:
    """Time in AckWaitTimeouts since a message of the SUT."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender

    def begin(self, session: Session) -> None:
        """Start with the first message of a session."""
        self.session = session
        self.first = session.expect("UserMessage")
        self._since_ms = self.first.time_ms
        parameters = session.received[1]["ConnectionParametersHeader"]
        self._unit_ms = self.sender.sut.duration_ms(parameters.AckTimeout)

    def next_message(self) -> Frame:
        """Start again with the next message of the session."""
        frame = self.session.expect("UserMessage")
        self._since_ms = frame.time_ms
        return frame

    def wait(self, until: float) -> bool:
        """Wait until an instant; is the session still open then?"""
        due_ms = self._since_ms + int(until * self._unit_ms)
        return not self.session.wait_closed(max(0, due_ms - self.sender.peer.recorder.elapsed_ms()))

    def ended(self) -> float | None:
        """Wait for the SUT to close; tell when it did, None when it did not."""
        left_ms = self._since_ms + LONGEST * self._unit_ms - self.sender.peer.recorder.elapsed_ms()
        self.session.wait_closed(max(0, left_ms) + self.sender.sut.slack_ms(self._unit_ms))
        closed_ms = self.session.record.closed_at_ms
        return None if closed_ms is None else (closed_ms - self._since_ms) / self._unit_ms

    def ending(self, ended: float | None) -> str:
        """Say how the session ended."""
        count = len(messages(self.session))
        if ended is None:
            return f"still open {LONGEST} AckWaitTimeouts after its message ({count} sent)"
        return f"closed {ended:.2f} AckWaitTimeouts after its message"
