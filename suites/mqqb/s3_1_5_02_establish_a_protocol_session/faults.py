"""Faults of MS-MQQB 3.1.5.2 Establish a Protocol Session, with 3.1.5.2.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.connection_history import change_history_entries, omit_history_entries
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

_PROGRESS_STATUSES = {
    ConnectionStatus.IN_PROCESS,
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
    ConnectionStatus.ESTABLISHED,
}
_FAILURE_STATUSES = set(ConnectionStatus) - _PROGRESS_STATUSES

add(
    "initiator-connection-history-failure-missing",
    "MQQB-3.1.5.2-01",
    "The initiator adds no entry to ConnectionHistory for a failed attempt.",
    omit_history_entries(_FAILURE_STATUSES),
)
add(
    "initiator-connection-history-failure-always-ping-failure",
    "MQQB-3.1.5.2-02",
    "The initiator's ConnectionHistory has Status PingFailure for each known failure.",
    change_history_entries(
        _FAILURE_STATUSES - {ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.PING_FAILURE
    ),
)
add(
    "initiator-connection-history-unknown-failure-dns-failure",
    "MQQB-3.1.5.2-03",
    "The initiator's ConnectionHistory has Status DnsFailure for a failure for which no other value is defined.",
    change_history_entries({ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.DNS_FAILURE),
)
add(
    "initiator-connection-history-failure-time-0",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has the time 0.",
    change_history_entries(_FAILURE_STATUSES, ConnectionHistoryTime=0),
)
add(
    "initiator-connection-history-failure-error-0",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has Error 0.",
    change_history_entries(_FAILURE_STATUSES, Error=0),
)
add(
    "initiator-connection-history-failure-address-empty",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has an empty AddressList.",
    change_history_entries(_FAILURE_STATUSES, AddressList=""),
)


# -- 3.1.5.2.2 the ping before a session ---------------------------------------------------------------------------


@fault("initiator-ping-request-not-sent", breaks="MQQB-3.1.5.2.2-02")
class InitiatorPingRequestNotSent(Ping):
    """The initiator connects without sending the configured Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.connecting.connect_transport(session)


add(
    "initiator-no-request-after-positive-ping",
    "MQQB-3.1.5.2.2-04",
    "The initiator connects after a positive Ping Response and sends no EstablishConnection request.",
    skip(Establishing.send_establish_request),
)
add(
    "initiator-connection-history-ping-failure-missing",
    "MQQB-3.1.5.2.2-06",
    "The initiator adds no entry to ConnectionHistory for a failed ping.",
    omit_history_entries({ConnectionStatus.PING_FAILURE}),
)


@fault("initiator-connection-history-ping-failure-as-dns-failure", breaks="MQQB-3.1.5.2.2-07")
class InitiatorConnectionHistoryPingFailureAsDnsFailure(Connecting):
    """The initiator's ConnectionHistory has Status DnsFailure for a failed ping."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        other = ConnectionStatus.DNS_FAILURE if status is ConnectionStatus.PING_FAILURE else status
        super().add_connection_history(session, other, now)


def _skip_reconnect_after_ping_failure(
    original: Callable[..., None], qm: QueueManager, session: Session, status: ConnectionStatus, *_: Any
) -> Callable[..., None]:
    return (lambda *arguments: None) if status is ConnectionStatus.PING_FAILURE else original


add(
    "initiator-retry-timer-not-started-after-failed-ping",
    "MQQB-3.1.5.2.2-08",
    "The initiator does not start the Session Retry Connect Timer after a failed ping.",
    during(Closing.fail_to_establish, Closing.await_reconnect, _skip_reconnect_after_ping_failure),
)
