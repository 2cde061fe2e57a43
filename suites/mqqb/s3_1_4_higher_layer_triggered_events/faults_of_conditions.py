"""Faults of MS-MQQB 3.1.4 Higher-Layer Triggered Events that concern some of the waiting messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.core.sessions.session_establishing import SessionEstablishing


def _skip_connection_after_restart(when: Callable[[Any, Any, int], bool]) -> Install:
    """Return an installer of a fault: after a restart, the initiator does not connect for the sessions that a condition
    selects.

    The session is established when its next message is sent. ``when`` gets the part, the session and the number of
    sessions that were established before.
    """

    def run(self: Any, original: Any, session: Any, now: Any, **named: Any) -> None:
        started = self.__dict__.setdefault("started", [])
        begun = self.qm.disk.used and all(not one.ConnectionHistory for one in self.qm.adm.OutgoingQueues.values())
        restored = any(
            one.MessagePosition.key and not one.MessagePosition.is_disk_write_pending
            for one in session.OutgoingMessageTable
        )
        first = session.number not in started and not named and restored and (begun or bool(started))
        if first:
            started.append(session.number)
        if first and when(self, session, len(started) - 1):
            return
        original(session, now, **named)

    return change_step(SessionEstablishing.establish, run)


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"initiator-{label}-not-connected-after-restart",
            "MQQB-3.1.4.1-02",
            f"After a restart, the initiator does not connect for {words}.",
            _skip_connection_after_restart(when),
        )
        for label, words, when in (
            ("second-queue", "any outgoing queue except the first", lambda self, session, earlier: earlier > 0),
            (
                "queue-with-one-message",
                "an outgoing queue with only one message",
                lambda self, session, earlier: len(session.OutgoingMessageTable) == 1,
            ),
            (
                "queue-with-transactional-messages",
                "an outgoing queue with transactional messages",
                lambda self, session, earlier: any(one.TxSequenceNumber for one in session.OutgoingMessageTable),
            ),
            (
                "queue-without-transactional-messages",
                "an outgoing queue without transactional messages",
                lambda self, session, earlier: not any(one.TxSequenceNumber for one in session.OutgoingMessageTable),
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
