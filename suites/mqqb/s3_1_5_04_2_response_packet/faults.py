"""Faults that break rules of MS-MQQB 3.1.5.4.2 Response Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import change_connection_history_entries, omit_connection_history_entries
from harness.faults.events import call_after_posted_events
from harness.faults.made_up import UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket, UserMessagePacket
from reference_qm.core.sessions.session_address_resolving import format_next_hop
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-received-window-size-set-to-own-value", breaks="MQQB-3.1.5.4.2-01")
class InitiatorReceivedWindowSizeSetToOwnValue(SessionOpening):
    """The initiator sets ReceivedWindowSize to its own WindowSize."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize = 64


@fault("initiator-received-window-size-of-first-session-kept", breaks="MQQB-3.1.5.4.2-01")
class InitiatorReceivedWindowSizeOfFirstSessionKept(SessionOpening):
    """The initiator sets ReceivedWindowSize of a later session to the WindowSize of the first response."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        first = session.ReceivedWindowSize
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize = first or session.ReceivedWindowSize


def _change_next_hops_when_open(change: Callable[[list[str]], list[str]]) -> Install:
    """Change NextHops of the outgoing queue when the session is open."""

    class NextHopsChangedWhenOpen(SessionOpening):
        def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            super().receive_parameters_response(session, packet, now)
            hops = get_outgoing_queue(session).NextHops
            hops[:] = change(hops)

    return replace_part(NextHopsChangedWhenOpen)


add(
    "initiator-next-hops-keep-unused-addresses-when-session-opens",
    "MQQB-3.1.5.4.2-03",
    "The initiator's NextHops keeps other addresses when the session is open.",
    _change_next_hops_when_open(lambda hops: [f"IP={UNUSED_ADDRESS}", *hops]),
)


@fault("initiator-next-hops-not-reduced-in-retry", breaks="MQQB-3.1.5.4.2-03", blind=True)
class InitiatorNextHopsNotReducedInRetry(SessionOpening):
    """When a retry opens the session, the initiator keeps all addresses of the host in NextHops."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.is_retrying_connection:
            queue = get_outgoing_queue(session)
            queue.NextHops[:] = [format_next_hop(one.Address) for one in session.NextHopCollection]


add(
    "initiator-next-hops-wrong-address-when-open",
    "MQQB-3.1.5.4.2-04",
    "The initiator's NextHops has an address other than the address of the open session.",
    _change_next_hops_when_open(lambda hops: [f"IP={UNUSED_ADDRESS}"]),
)


@fault(
    "initiator-next-hops-names-first-address-of-open-session",
    breaks=("MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-05"),
    blind=True,
)
class InitiatorNextHopsNamesFirstAddressOfOpenSession(SessionOpening):
    """When a session opens with the second next hop, the initiator puts the address of the first next hop into
    NextHops.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            get_outgoing_queue(session).NextHops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


@fault(
    "initiator-next-hops-of-open-session-is-first-address",
    breaks=("MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-05"),
    blind=True,
)
class InitiatorNextHopsOfOpenSessionIsFirstAddress(SessionOpening):
    """When the session is open to the second address of a host, the initiator keeps the first address in NextHops."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        queue = get_outgoing_queue(session)
        queue.NextHops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


add(
    "initiator-next-hops-address-without-prefix-when-open",
    "MQQB-3.1.5.4.2-05",
    "The initiator's NextHops has the address of the open session without IP=.",
    _change_next_hops_when_open(lambda hops: [hop.partition("=")[2] for hop in hops]),
)


@fault("initiator-next-hops-contains-first-address-when-session-opens", breaks="MQQB-3.1.5.4.2-05", blind=True)
class InitiatorNextHopsContainsFirstAddressWhenSessionOpens(SessionOpening):
    """The initiator puts the first address of the host into NextHops of an open session, even if the session uses
    another address.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        hops = get_outgoing_queue(session).NextHops
        if hops:
            hops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


@fault("initiator-next-hops-contains-address-of-open-session-twice", breaks="MQQB-3.1.5.4.2-05", blind=True)
class InitiatorNextHopsContainsAddressOfOpenSessionTwice(SessionOpening):
    """The initiator puts the address of an open session into NextHops twice."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        hops = get_outgoing_queue(session).NextHops
        hops.extend(hops[:1])


@fault("initiator-initialization-timer-runs-in-open-session", breaks="MQQB-3.1.5.4.2-06")
class InitiatorInitializationTimerRunsInOpenSession(SessionTimers):
    """The initiator does not stop its Session Initialization Timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("initiator-initialization-timer-of-retry-not-stopped", breaks="MQQB-3.1.5.4.2-06", blind=True)
class InitiatorInitializationTimerOfRetryNotStopped(SessionOpening):
    """The initiator does not stop its Session Initialization Timer when the session of a retry opens."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.is_retrying_connection:
            name = TimerName.SESSION_INITIALIZATION
            self.qm.session_timers.start(session, name, self.qm.settings.session_initialization_ms, now)


@fault("initiator-initialization-timer-stopped-by-establish-response", breaks="MQQB-3.1.5.4.2-06", blind=True)
class InitiatorInitializationTimerStoppedByEstablishResponse(SessionOpening):
    """The initiator stops its Session Initialization Timer when the EstablishConnection response arrives, and so waits
    for a ConnectionParameters response without a time limit.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-messages-not-sent-on-open-session", breaks=("MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-D01"))
class InitiatorMessagesNotSentOnOpenSession(MessageSending):
    """The initiator sends none of its messages on an open session."""

    def may_send(self, session: Session) -> bool:
        return False


@fault("initiator-sends-only-first-waiting-message-when-session-opens", breaks="MQQB-3.1.5.4.2-07", blind=True)
class InitiatorSendsOnlyFirstWaitingMessageWhenSessionOpens(SessionOpening):
    """When the session opens, the initiator sends only the first of several messages that wait."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        table = session.OutgoingMessageTable
        first = table.get_next_unsent()
        table.withhold_all_positions()
        if first is not None:
            self.qm.dispatch_collection.add(session, first)
        super().receive_parameters_response(session, packet, now)


@fault("initiator-recoverable-messages-not-sent-if-express-ones-wait", breaks="MQQB-3.1.5.4.2-07", blind=True)
class InitiatorRecoverableMessagesNotSentIfExpressOnesWait(SessionOpening):
    """When the session opens, the initiator does not send waiting recoverable messages if express
    messages also wait.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        table = session.OutgoingMessageTable
        express = [one for one in table if not one.recoverable]
        if express:
            table.withhold_all_positions()
            for one in express:
                self.qm.dispatch_collection.add(session, one)
        super().receive_parameters_response(session, packet, now)


@fault("initiator-only-first-waiting-message-sent-in-retry", breaks="MQQB-3.1.5.4.2-07", blind=True)
class InitiatorOnlyFirstWaitingMessageSentInRetry(SessionOpening):
    """When a retry opens the session, the initiator sends only the first of the waiting messages."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.is_retrying_connection:
            self.qm.dispatch_collection.remove_queue(get_outgoing_queue(session))
            for position in list(session.OutgoingMessageTable)[:1]:
                self.qm.dispatch_collection.add(session, position)


add(
    "initiator-connection-history-established-missing",
    "MQQB-3.1.5.4.2-08",
    "The initiator adds no entry with Status Established to ConnectionHistory.",
    omit_connection_history_entries({ConnectionStatus.ESTABLISHED}),
)


add(
    "initiator-connection-history-established-with-error",
    "MQQB-3.1.5.4.2-08",
    "The initiator's ConnectionHistory entry with Status Established has an Error.",
    change_connection_history_entries({ConnectionStatus.ESTABLISHED}, Error=0x80004005),
)


@fault("initiator-connection-history-address-is-host-name", breaks="MQQB-3.1.5.4.2-08")
class InitiatorConnectionHistoryAddressIsHostName(SessionConnecting):
    """AddressList of the initiator's ConnectionHistory entries contains the host name instead of the address."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)


@fault("initiator-history-lacks-established-entry-of-retry", breaks="MQQB-3.1.5.4.2-08", blind=True)
class InitiatorHistoryLacksEstablishedEntryOfRetry(SessionConnecting):
    """The initiator adds no entry with Status Established to ConnectionHistory when the session of a retry opens."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.is_retrying_connection and status is ConnectionStatus.ESTABLISHED):
            super().add_connection_history(session, status, now)


@fault("initiator-established-history-entry-has-time-of-previous-entry", breaks="MQQB-3.1.5.4.2-08", blind=True)
class InitiatorEstablishedHistoryEntryHasTimeOfPreviousEntry(SessionConnecting):
    """The initiator sets the time of the ConnectionHistory entry with Status Established to the time of the previous
    entry.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISHED and len(entries) > 1:
            entries[-1] = replace(entries[-1], ConnectionHistoryTime=entries[-2].ConnectionHistoryTime)


@fault("initiator-established-history-entry-has-first-address", breaks="MQQB-3.1.5.4.2-08", blind=True)
class InitiatorEstablishedHistoryEntryHasFirstAddress(SessionConnecting):
    """The initiator puts the first address of the host into AddressList of each entry with Status Established."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISHED:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-established-history-entry-has-time-of-request", breaks="MQQB-3.1.5.4.2-08", blind=True)
class InitiatorEstablishedHistoryEntryHasTimeOfRequest(SessionConnecting):
    """The initiator sets ConnectionHistoryTime of each entry with Status Established to the time of the
    previous entry.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISHED and len(history) > 1:
            history[-1] = replace(history[-1], ConnectionHistoryTime=history[-2].ConnectionHistoryTime)


@fault("initiator-queue-state-waiting-although-session-is-open", breaks="MQQB-3.1.5.4.2-09")
class InitiatorQueueStateWaitingAlthoughSessionIsOpen(SessionOpening):
    """The initiator sets State of the outgoing queue to Waiting when the session is open."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        call_after_posted_events(
            self.qm, lambda: setattr(get_outgoing_queue(session), "State", OutgoingQueueState.WAITING)
        )


@fault("initiator-paused-queue-set-to-connected-after-handshake", breaks="MQQB-3.1.5.4.2-09", blind=True)
class InitiatorPausedQueueSetToConnectedAfterHandshake(SessionOpening):
    """If an outgoing queue is paused during the handshake, the initiator nevertheless sets State of this queue to
    Connected.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        queue = get_outgoing_queue(session)
        if session.SessionState is SessionState.OPEN and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED


@fault("initiator-sets-other-queues-to-waiting-when-session-opens", breaks="MQQB-3.1.5.4.2-09", blind=True)
class InitiatorSetsOtherQueuesToWaitingWhenSessionOpens(SessionOpening):
    """When a session opens, the initiator sets State of the outgoing queues of all other open sessions to Waiting."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.session is not session and queue.State is OutgoingQueueState.CONNECTED:
                queue.State = OutgoingQueueState.WAITING


@fault("initiator-replaces-queue-state-on-hold-by-connected", breaks="MQQB-3.1.5.4.2-09", blind=True)
class InitiatorReplacesQueueStateOnHoldByConnected(SessionOpening):
    """When the initiator receives the ConnectionParameters response, it sets State of a queue that is
    OnHold to Connected.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        get_outgoing_queue(session).State = OutgoingQueueState.CONNECTED


@fault("initiator-ignores-messages-on-session-of-retry", breaks="MQQB-3.1.5.4.2-D01", blind=True)
class InitiatorIgnoresMessagesOnSessionOfRetry(MessageReceiving):
    """The initiator ignores messages from the acceptor on a session that a retry opened."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not (session.initiator and session.is_retrying_connection):
            super().receive_user_message(session, packet, now)


@fault("initiator-message-in-segment-of-parameters-response-dropped", breaks="MQQB-3.1.5.4.2-D01", blind=True)
class InitiatorMessageInSegmentOfParametersResponseDropped(Identifying):
    """The initiator drops data that it receives together with the ConnectionParameters response."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        if session.SessionState.value == "WAITING_CPR_MSG":
            data = data[:32]
        super().receive_bytes(session, data, now)


@fault("initiator-next-hops-first-address-after-failover", breaks="MQQB-3.1.5.4.2-05", blind=True)
class InitiatorNextHopsFirstAddressAfterFailover(SessionOpening):
    """NextHops contains the first address of the destination although the session was opened with the second."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        queue = session.OutgoingQueueReference
        if queue is not None and session.NextHopCollection and not packet.InternalHeader.CS:
            queue.NextHops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


@fault("initiator-next-hops-failed-addresses-kept", breaks="MQQB-3.1.5.4.2-03", blind=True)
class InitiatorNextHopsFailedAddressesKept(SessionOpening):
    """The initiator keeps in NextHops the addresses to which it could not connect before the session opened, and
    removes only the addresses that it has not tried.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            tried = session.NextHopCollection[: session.NextHopIndexer]
            get_outgoing_queue(session).NextHops[:0] = [format_next_hop(hop.Address) for hop in tried]


@fault("initiator-waiting-messages-not-sent-after-retried-connect", breaks="MQQB-3.1.5.4.2-07", blind=True)
class InitiatorWaitingMessagesNotSentAfterRetriedConnect(SessionOpening):
    """The initiator does not send the messages that wait when the ConnectionParameters response arrives, if it
    establishes the session because the Session Retry Connect Timer expired.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.is_retrying_connection and session.SessionState is SessionState.OPEN:
            self.qm.dispatch_collection.remove_queue(get_outgoing_queue(session))
