"""Faults of MS-MQQB 3.1.5.2 Establish a Protocol Session, and of 3.1.5.2.2 in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.connection_history import entries_changed, entries_left_out
from harness.faults.parts import fault
from harness.faults.primitives import during, skip
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

_PROGRESS = {ConnectionStatus.IN_PROCESS, ConnectionStatus.ESTABLISH_PACKET_RECEIVED, ConnectionStatus.ESTABLISHED}
_FAILURES = set(ConnectionStatus) - _PROGRESS

add(
    "history-without-failures",
    "MQQB-3.1.5.2-01",
    "A failed attempt leaves no entry.",
    entries_left_out(_FAILURES),
)
add(
    "history-failure-misnamed",
    "MQQB-3.1.5.2-02",
    "Every failure that has a name is called PingFailure.",
    entries_changed(_FAILURES - {ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.PING_FAILURE),
)
add(
    "history-unknown-failure-named",
    "MQQB-3.1.5.2-03",
    "A failure without a name is called DnsFailure.",
    entries_changed({ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.DNS_FAILURE),
)
add(
    "history-failure-without-time",
    "MQQB-3.1.5.2-04",
    "ConnectionHistoryTime of a failure's entry is 0.",
    entries_changed(_FAILURES, ConnectionHistoryTime=0),
)
add(
    "history-failure-without-error",
    "MQQB-3.1.5.2-04",
    "Error of a failure's entry is 0.",
    entries_changed(_FAILURES, Error=0),
)
add(
    "history-failure-without-address",
    "MQQB-3.1.5.2-04",
    "AddressList of a failure's entry is ''.",
    entries_changed(_FAILURES, AddressList=""),
)


# -- 3.1.5.2.2 the ping before a session ---------------------------------------------------------------------------


@fault("ping-request-not-sent", breaks="MQQB-3.1.5.2.2-02")
class PingRequestNotSent(Ping):
    """The initiator connects without the ping that it is set up to send."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.connecting.connect_transport(session)


add(
    "ping-answered-no-request",
    "MQQB-3.1.5.2.2-04",
    "After a positive Ping Response the initiator connects and sends no EstablishConnection.",
    skip(Establishing.send_establish_request),
)
add(
    "ping-failure-not-recorded",
    "MQQB-3.1.5.2.2-06",
    "A failed ping leaves no entry in ConnectionHistory.",
    entries_left_out({ConnectionStatus.PING_FAILURE}),
)


@fault("ping-failure-recorded-as-another", breaks="MQQB-3.1.5.2.2-07")
class PingFailureRecordedAsAnother(Connecting):
    """A failed ping is recorded as a failure to resolve the name."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        other = ConnectionStatus.DNS_FAILURE if status is ConnectionStatus.PING_FAILURE else status
        super().add_connection_history(session, other, now)


def _give_up(
    original: Callable[..., None], qm: QueueManager, session: Session, status: ConnectionStatus, *_: Any
) -> Callable[..., None]:
    return (lambda *arguments: None) if status is ConnectionStatus.PING_FAILURE else original


add(
    "ping-failure-gives-up",
    "MQQB-3.1.5.2.2-08",
    "After a failed ping the Session Retry Connect Timer is not started.",
    during(Closing.fail_to_establish, Closing.await_reconnect, _give_up),
)
