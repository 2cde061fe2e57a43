"""Faults that break rules of MS-MQQB 3.1.5.2 Establish a Protocol Session and of 3.1.5.2.2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from harness.faults.connection_history import change_connection_history_entries, omit_connection_history_entries
from harness.faults.parts import fault
from harness.faults.primitives import omit_step, replace_method_during
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import (
    HRESULT_BY_CONNECTION_STATUS,
    SessionConnecting,
    get_outgoing_queue,
)
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

_PROGRESS_STATUSES_OF_CONNECTION_HISTORY = {
    ConnectionStatus.IN_PROCESS,
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
    ConnectionStatus.ESTABLISHED,
}


_FAILURE_STATUSES_OF_CONNECTION_HISTORY = set(ConnectionStatus) - _PROGRESS_STATUSES_OF_CONNECTION_HISTORY


add(
    "initiator-connection-history-failure-missing",
    "MQQB-3.1.5.2-01",
    "The initiator adds no entry to ConnectionHistory for a failed attempt.",
    omit_connection_history_entries(_FAILURE_STATUSES_OF_CONNECTION_HISTORY),
)


REPORTED_FAILURE_STATUSES_OF_CONNECTION = (
    ConnectionStatus.UNKNOWN_FAILURE,
    ConnectionStatus.PING_FAILURE,
    ConnectionStatus.SOCKET_CONNECT_FAILURE,
    ConnectionStatus.DNS_FAILURE,
    ConnectionStatus.CONNECTION_REFUSED,
    ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE,
)


@fault("initiator-history-entry-of-failure-replaces-last-entry", breaks="MQQB-3.1.5.2-01", blind=True)
class InitiatorHistoryEntryOfFailureReplacesLastEntry(SessionConnecting):
    """The initiator replaces the last ConnectionHistory entry by the entry of a failed attempt, instead of appending
    the new entry.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        if status in REPORTED_FAILURE_STATUSES_OF_CONNECTION and history:
            history.pop()
        super().add_connection_history(session, status, now)


@fault("initiator-history-lacks-entry-of-failed-retry", breaks="MQQB-3.1.5.2-01", blind=True)
class InitiatorHistoryLacksEntryOfFailedRetry(SessionConnecting):
    """The initiator adds no entry to ConnectionHistory when an attempt that the Session Retry Connect Timer started
    fails.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.is_retrying_connection and status in REPORTED_FAILURE_STATUSES_OF_CONNECTION):
            super().add_connection_history(session, status, now)


_JUDGED_FAILURE_STATUSES = (
    ConnectionStatus.UNKNOWN_FAILURE,
    ConnectionStatus.PING_FAILURE,
    ConnectionStatus.SOCKET_CONNECT_FAILURE,
    ConnectionStatus.DNS_FAILURE,
    ConnectionStatus.CONNECTION_REFUSED,
    ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE,
)


@fault("initiator-repeated-failure-not-in-history", breaks="MQQB-3.1.5.2-01", blind=True)
class InitiatorRepeatedFailureNotInHistory(SessionConnecting):
    """The initiator adds no ConnectionHistory entry when an attempt fails with the same Status as the
    previous failure.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        failed = [one.Status for one in history if one.Status in _JUDGED_FAILURE_STATUSES]
        if status in _JUDGED_FAILURE_STATUSES and failed and failed[-1] is status:
            return
        super().add_connection_history(session, status, now)


add(
    "initiator-connection-history-failure-always-ping-failure",
    "MQQB-3.1.5.2-02",
    "The initiator's ConnectionHistory has Status PingFailure for each known failure.",
    change_connection_history_entries(
        _FAILURE_STATUSES_OF_CONNECTION_HISTORY - {ConnectionStatus.UNKNOWN_FAILURE},
        Status=ConnectionStatus.PING_FAILURE,
    ),
)


for status, name in (
    (ConnectionStatus.DNS_FAILURE, "unresolved-name"),
    (ConnectionStatus.SOCKET_CONNECT_FAILURE, "refused-connection"),
    (ConnectionStatus.CONNECTION_REFUSED, "refused-session"),
):
    add(
        f"initiator-entry-of-{name}-with-status-unknown-failure",
        "MQQB-3.1.5.2-02",
        f"The initiator adds an entry with Status UnknownFailure for an attempt that ends with {status.name}.",
        change_connection_history_entries((status,), Status=ConnectionStatus.UNKNOWN_FAILURE),
        blind=True,
    )


@fault("initiator-history-status-of-failed-retry-is-unknown-failure", breaks="MQQB-3.1.5.2-02", blind=True)
class InitiatorHistoryStatusOfFailedRetryIsUnknownFailure(SessionClosing):
    """The initiator sets Status of a failed retry to UnknownFailure."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        if session.is_retrying_connection:
            status = ConnectionStatus.UNKNOWN_FAILURE
        super().close_session_after_failed_establishment(session, status, reason, now)


add(
    "initiator-connection-history-unknown-failure-dns-failure",
    "MQQB-3.1.5.2-03",
    "The initiator's ConnectionHistory has Status DnsFailure for a failure for which no other value is defined.",
    change_connection_history_entries({ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.DNS_FAILURE),
)


add(
    "initiator-entry-of-response-for-another-with-status-connection-refused",
    "MQQB-3.1.5.2-03",
    "The initiator adds an entry with Status ConnectionRefused for an attempt that ends with an invalid response.",
    change_connection_history_entries((ConnectionStatus.UNKNOWN_FAILURE,), Status=ConnectionStatus.CONNECTION_REFUSED),
    blind=True,
)


add(
    "initiator-connection-history-failure-time-0",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has the time 0.",
    change_connection_history_entries(_FAILURE_STATUSES_OF_CONNECTION_HISTORY, ConnectionHistoryTime=0),
)


add(
    "initiator-connection-history-failure-error-0",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has Error 0.",
    change_connection_history_entries(_FAILURE_STATUSES_OF_CONNECTION_HISTORY, Error=0),
)


add(
    "initiator-connection-history-failure-address-empty",
    "MQQB-3.1.5.2-04",
    "The initiator's ConnectionHistory entry of a failure has an empty AddressList.",
    change_connection_history_entries(_FAILURE_STATUSES_OF_CONNECTION_HISTORY, AddressList=""),
)


@fault("initiator-failure-entry-has-address-of-first-next-hop", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorFailureEntryHasAddressOfFirstNextHop(SessionConnecting):
    """The initiator puts the address of the first next hop into the ConnectionHistory entry of a failure, instead of
    the address that failed.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        if HRESULT_BY_CONNECTION_STATUS[status] and session.NextHopCollection:
            history = get_outgoing_queue(session).ConnectionHistory
            history.append(replace(history.pop(), AddressList=session.NextHopCollection[0].Address))


@fault("initiator-history-error-of-failure-lacks-severity-bit", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryErrorOfFailureLacksSeverityBit(SessionConnecting):
    """The initiator sets Error of the ConnectionHistory entry of a failed attempt without the severity bit, so Error is
    the HRESULT of a success.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status in REPORTED_FAILURE_STATUSES_OF_CONNECTION and status is not ConnectionStatus.PING_FAILURE:
            entries[-1] = replace(entries[-1], Error=entries[-1].Error & 0x7FFFFFFF)


@fault("initiator-history-entry-of-failure-has-time-of-previous-entry", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryEntryOfFailureHasTimeOfPreviousEntry(SessionConnecting):
    """The initiator sets the time of the ConnectionHistory entry of a failed attempt to the time of the
    previous entry.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status in REPORTED_FAILURE_STATUSES_OF_CONNECTION and len(entries) > 1:
            entries[-1] = replace(entries[-1], ConnectionHistoryTime=entries[-2].ConnectionHistoryTime)


@fault("initiator-history-entry-of-failure-has-first-address-of-host", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryEntryOfFailureHasFirstAddressOfHost(SessionConnecting):
    """The initiator puts the first address of the host into AddressList of the ConnectionHistory entry of a failed
    attempt, instead of the address that it tried.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status in REPORTED_FAILURE_STATUSES_OF_CONNECTION and session.NextHopCollection:
            entries[-1] = replace(entries[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-history-time-of-later-failures-is-that-of-first", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryTimeOfLaterFailuresIsThatOfFirst(SessionConnecting):
    """The initiator sets ConnectionHistoryTime of a later failed attempt to the time of the first failed attempt."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        failed = [one for one in history if one.Status in _JUDGED_FAILURE_STATUSES]
        if status in _JUDGED_FAILURE_STATUSES:
            history[-1] = replace(history[-1], ConnectionHistoryTime=failed[0].ConnectionHistoryTime)


@fault("initiator-history-of-second-address-failure-has-first-address", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryOfSecondAddressFailureHasFirstAddress(SessionConnecting):
    """The initiator puts the first address of the host into AddressList of each failed attempt, even if another address
    failed.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status in _JUDGED_FAILURE_STATUSES and session.NextHopCollection:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-history-error-of-failed-retry-is-zero", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryErrorOfFailedRetryIsZero(SessionConnecting):
    """The initiator sets Error of the ConnectionHistory entry to zero when a retry fails."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status in _JUDGED_FAILURE_STATUSES and session.is_retrying_connection:
            history[-1] = replace(history[-1], Error=0)


@fault("initiator-history-error-repeated-from-previous-failure", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorHistoryErrorRepeatedFromPreviousFailure(SessionConnecting):
    """The initiator sets Error of the ConnectionHistory entry of a failed attempt to the HRESULT of the previous
    failure of the queue, if the queue had an earlier failure.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        previous = next((entry.Error for entry in reversed(history) if entry.Error), 0)
        super().add_connection_history(session, status, now)
        if previous and HRESULT_BY_CONNECTION_STATUS[status]:
            history[-1] = replace(history[-1], Error=previous)


@fault("initiator-ping-request-not-sent", breaks="MQQB-3.1.5.2.2-02")
class InitiatorPingRequestNotSent(PingHandling):
    """The initiator connects without sending the configured Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.session_connecting.connect_transport(session)


_first_pinged_address_by_queue_manager: WeakKeyDictionary[QueueManager, str] = WeakKeyDictionary()


@fault("initiator-ping-sent-to-address-of-first-destination", breaks="MQQB-3.1.5.2.2-02", blind=True)
class InitiatorPingSentToAddressOfFirstDestination(PingHandling):
    """The initiator sends each Ping Request to the address to which it sent its first Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        address = session.RemoteQMAddress
        session.RemoteQMAddress = _first_pinged_address_by_queue_manager.setdefault(self.qm, address)
        super().send_request(session, now)
        session.RemoteQMAddress = address


add(
    "initiator-no-request-after-positive-ping",
    "MQQB-3.1.5.2.2-04",
    "The initiator connects after a positive Ping Response and sends no EstablishConnection request.",
    omit_step(SessionEstablishing.send_establish_request),
)


@fault("initiator-connects-without-ping-response", breaks="MQQB-3.1.5.2.2-04", blind=True)
class InitiatorConnectsWithoutPingResponse(PingHandling):
    """The initiator connects as soon as it has sent the Ping Request, without waiting for the response."""

    def ping_before_session(self, session: Session, now: Now) -> None:
        super().ping_before_session(session, now)
        if session.is_ping_sent_before_session:
            self.on_ping_response_processed(session, self.build_request(), now)


add(
    "initiator-connection-history-ping-failure-missing",
    "MQQB-3.1.5.2.2-06",
    "The initiator adds no entry to ConnectionHistory for a failed ping.",
    omit_connection_history_entries({ConnectionStatus.PING_FAILURE}),
)


@fault("initiator-history-lacks-entry-of-second-failed-ping", breaks="MQQB-3.1.5.2.2-06", blind=True)
class InitiatorHistoryLacksEntryOfSecondFailedPing(SessionConnecting):
    """The initiator adds no entry for a failed ping if ConnectionHistory already has an entry for a failed ping."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        entries = get_outgoing_queue(session).ConnectionHistory
        known = any(one.Status is ConnectionStatus.PING_FAILURE for one in entries)
        if not (known and status is ConnectionStatus.PING_FAILURE):
            super().add_connection_history(session, status, now)


@fault("initiator-refused-ping-not-in-history", breaks="MQQB-3.1.5.2.2-06", blind=True)
class InitiatorRefusedPingNotInHistory(PingHandling):
    """The initiator adds no ConnectionHistory entry when a Ping Response has RF set."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        before = list(history)
        super().on_ping_response_processed(session, response, now)
        if response.RF:
            history.clear()
            history.extend(before)


@fault("initiator-history-reports-ping-failure-as-dns-failure", breaks="MQQB-3.1.5.2.2-07")
class InitiatorHistoryReportsPingFailureAsDnsFailure(SessionConnecting):
    """The initiator's ConnectionHistory has Status DnsFailure for a failed ping."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        other = ConnectionStatus.DNS_FAILURE if status is ConnectionStatus.PING_FAILURE else status
        super().add_connection_history(session, other, now)


@fault("initiator-history-entry-of-failed-ping-has-error-0", breaks="MQQB-3.1.5.2.2-07", blind=True)
class InitiatorHistoryEntryOfFailedPingHasError0(SessionConnecting):
    """The initiator sets Error of the ConnectionHistory entry of a failed ping to zero."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.PING_FAILURE:
            entries[-1] = replace(entries[-1], Error=0)


@fault("initiator-history-entry-of-failed-ping-has-host-name-as-address", breaks="MQQB-3.1.5.2.2-07", blind=True)
class InitiatorHistoryEntryOfFailedPingHasHostNameAsAddress(SessionConnecting):
    """The initiator puts the host name, instead of the address, into AddressList of the ConnectionHistory entry of a
    failed ping.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.PING_FAILURE:
            entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)


@fault("initiator-history-status-connection-refused-for-refused-ping", breaks="MQQB-3.1.5.2.2-07", blind=True)
class InitiatorHistoryStatusConnectionRefusedForRefusedPing(PingHandling):
    """The initiator sets Status of the ConnectionHistory entry for a Ping Response with RF set to ConnectionRefused."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().on_ping_response_processed(session, response, now)
        if response.RF:
            history = get_outgoing_queue(session).ConnectionHistory
            history[-1] = replace(history[-1], Status=ConnectionStatus.CONNECTION_REFUSED)


def _skip_reconnect_after_ping_failure(
    original: Callable[..., None], qm: QueueManager, session: Session, status: ConnectionStatus, *_: Any
) -> Callable[..., None]:
    return (lambda *arguments: None) if status is ConnectionStatus.PING_FAILURE else original


add(
    "initiator-retry-timer-not-started-after-failed-ping",
    "MQQB-3.1.5.2.2-08",
    "The initiator does not start the Session Retry Connect Timer after a failed ping.",
    replace_method_during(
        SessionClosing.close_session_after_failed_establishment,
        SessionClosing.await_reconnect,
        _skip_reconnect_after_ping_failure,
    ),
)


@fault("initiator-new-message-starts-attempt-before-retry-timer-expires", breaks="MQQB-3.1.5.2.2-08", blind=True)
class InitiatorNewMessageStartsAttemptBeforeRetryTimerExpires(MessageSending):
    """After a failed ping, a new message for the same destination starts an attempt before the Session Retry Connect
    Timer expires.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.qm.session_establishing.establish(session, now)


@fault("initiator-retry-one-second-after-failed-ping", breaks="MQQB-3.1.5.2.2-08", blind=True)
class InitiatorRetryOneSecondAfterFailedPing(PingHandling):
    """After a failed ping, the initiator tries again after one second."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        super().on_response_timer(session, now)
        self.qm.session_timers.start(session, TimerName.SESSION_RETRY_CONNECT, 1_000, now)


@fault("initiator-new-message-ends-wait-after-failed-ping", breaks="MQQB-3.1.5.2.2-08", blind=True)
class InitiatorNewMessageEndsWaitAfterFailedPing(MessageSending):
    """After a failed ping, the initiator starts a new attempt for a new message in the same queue, before the retry
    time.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        again = session.SessionState is SessionState.WAITING_RECONNECT
        super().add_message_to_session_table(session, position, now)
        if again:
            self.qm.session_establishing.establish(session, now)


@fault("initiator-no-retry-after-refused-ping", breaks="MQQB-3.1.5.2.2-08", blind=True)
class InitiatorNoRetryAfterRefusedPing(PingHandling):
    """After a Ping Response with RF set, the initiator does not start the Session Retry Connect Timer."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().on_ping_response_processed(session, response, now)
        if response.RF:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)
