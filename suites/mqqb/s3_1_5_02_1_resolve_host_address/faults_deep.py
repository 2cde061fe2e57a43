"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address, by an author who had not seen the checks."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm import directory
from reference_qm.codec import NULL_GUID
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault(
    "initiator-no-retry-timer-after-second-failure-to-find-destination",
    breaks=("MQQB-3.1.5.2.1-10", "MQQB-3.1.5.2.1-20"),
    blind=True,
)
class InitiatorNoRetryTimerAfterSecondFailureToFindDestination(Closing):
    """When a retry also finds no destination or next hop, the initiator does not restart the Session Retry Connect
    Timer.
    """

    def fail_to_establish(self, session: Session, status: ConnectionStatus, reason: str, now: Now) -> None:
        super().fail_to_establish(session, status, reason, now)
        if session.retrying and status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault(
    "initiator-state-inactive-after-second-failure-to-find-destination",
    breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"),
    blind=True,
)
class InitiatorStateInactiveAfterSecondFailureToFindDestination(Resolving):
    """When a retry also finds no destination or next hop, the initiator sets State of the outgoing queue
    to Inactive.
    """

    def require_validation(self, session: Session) -> None:
        super().require_validation(session)
        queue = outgoing_queue(session)
        if session.retrying and queue.State is OutgoingQueueState.NEED_VALIDATION:
            queue.State = OutgoingQueueState.INACTIVE


@fault("initiator-every-queue-needs-validation", breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"), blind=True)
class InitiatorEveryQueueNeedsValidation(Resolving):
    """When the initiator cannot find a destination, it sets State of every outgoing queue to NeedValidation."""

    def require_validation(self, session: Session) -> None:
        super().require_validation(session)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.State is not OutgoingQueueState.ON_HOLD:
                queue.State = OutgoingQueueState.NEED_VALIDATION


@fault("initiator-next-hops-of-earlier-attempt-kept", breaks="MQQB-3.1.5.2.1-27", blind=True)
class InitiatorNextHopsOfEarlierAttemptKept(Resolving):
    """The initiator keeps the addresses of earlier attempts in NextHops, so each retry adds a further copy of each
    address.
    """

    def try_addresses(self, session: Session, now: Now) -> None:
        queue = outgoing_queue(session)
        old = list(_earlier.get(id(queue), []))
        super().try_addresses(session, now)
        queue.NextHops[:0] = old
        _earlier[id(queue)] = list(queue.NextHops)


_earlier: dict[int, list[str]] = {}


@fault("initiator-next-hops-without-last-address", breaks="MQQB-3.1.5.2.1-27", blind=True)
class InitiatorNextHopsWithoutLastAddress(Resolving):
    """The initiator does not put the last of several addresses into NextHops."""

    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        hops = outgoing_queue(session).NextHops
        if len(hops) > 1:
            hops.pop()


@fault("initiator-retry-begins-with-last-address", breaks="MQQB-3.1.5.2.1-33", blind=True)
class InitiatorRetryBeginsWithLastAddress(Resolving):
    """When the addresses are resolved again in a retry, the initiator begins with the last address."""

    def try_addresses(self, session: Session, now: Now) -> None:
        for host, addresses in session.addresses.items():
            if session.retrying:
                session.addresses[host] = tuple(reversed(addresses))
        super().try_addresses(session, now)


@fault("initiator-second-unresolvable-queue-inactive", breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"), blind=True)
class InitiatorSecondUnresolvableQueueInactive(Resolving):
    """The initiator sets State to NeedValidation only for the first of two outgoing queues whose destinations cannot be
    found.
    """

    def require_validation(self, session: Session) -> None:
        states = [queue.State for queue in self.qm.adm.OutgoingQueues.values()]
        if OutgoingQueueState.NEED_VALIDATION not in states:
            super().require_validation(session)


@fault("initiator-session-guid-of-destination-behind-router", breaks="MQQB-3.1.5.2.1-37", blind=True)
class InitiatorSessionGuidOfDestinationBehindRouter(Resolving):
    """The initiator sets RemoteQMGuid to the Identifier of the destination's queue manager, even if the next hop is a
    router with another Identifier.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.destination != NULL_GUID:
            session.RemoteQMGuid = session.destination


@fault("initiator-queue-on-hold-needs-validation", breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"), blind=True)
class InitiatorQueueOnHoldNeedsValidation(Resolving):
    """When a retry finds no destination or next hop, the initiator sets State of a queue that is OnHold
    to NeedValidation.
    """

    def require_validation(self, session: Session) -> None:
        queue = outgoing_queue(session)
        if len(session.OutgoingMessageTable):
            queue.State = OutgoingQueueState.NEED_VALIDATION


_hops: WeakKeyDictionary[QueueManager, tuple[directory.QueueManager, ...]] = WeakKeyDictionary()


@fault("initiator-destination-of-first-format-name-used-for-all", breaks="MQQB-3.1.5.2.1-06", blind=True)
class InitiatorDestinationOfFirstFormatNameUsedForAll(NextHops):
    """The initiator determines the host of a direct format name only once, and uses this host for every direct format
    name.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or found.QueueManagerGuid != NULL_GUID:
            return found
        return _destinations.setdefault(self.qm, found)


_destinations: WeakKeyDictionary[QueueManager, Destination] = WeakKeyDictionary()


@fault("initiator-third-address-never-used", breaks=("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-32"), blind=True)
class InitiatorThirdAddressNeverUsed(Resolving):
    """The initiator creates a NextHop only for the first two addresses of a host."""

    def try_addresses(self, session: Session, now: Now) -> None:
        session.addresses = {host: found[:2] for host, found in session.addresses.items()}
        super().try_addresses(session, now)


_listed: WeakKeyDictionary[QueueManager, dict[str, list[str]]] = WeakKeyDictionary()


@fault("initiator-session-of-longer-name-shown-in-queue-of-shorter", breaks="MQQB-3.1.5.2.1-03", blind=True)
class InitiatorSessionOfLongerNameShownInQueueOfShorter(Resolving):
    """When a session for one format name is opened, the initiator also clears NextHops of every other
    outgoing queue.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            queue.NextHops.clear()
        super().resolve_host_address(session, now)
