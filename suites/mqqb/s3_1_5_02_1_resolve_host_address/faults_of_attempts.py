"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address in single attempts: the second destination, a retry, one kind of
format name.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import find_other_session_with_next_hops
from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, UserMessagePacket
from reference_qm.codec.format_names import PrivateQueuePath, PublicQueuePath, parse_format_name
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now


def _get_host_of_direct_name(format_name: str) -> str | None:
    """Return the host of a direct format name in lower case, or None for another format name."""
    name = parse_format_name(format_name)
    if not isinstance(name, PrivateQueuePath | PublicQueuePath):
        return None
    return name.ProtocolAddressSpecification.lower()


def _find_direct_host(qm: QueueManager) -> str | None:
    """Return the host of the first outgoing queue with a direct format name, or None."""
    hosts = (_get_host_of_direct_name(one.DestinationFormatName) for one in qm.adm.OutgoingQueues.values())
    return next(filter(None, hosts), None)


def _find_queue_of_same_host(qm: QueueManager, format_name: str) -> OutgoingQueue | None:
    """Return the first outgoing queue whose direct format name has the same host, but names another queue."""
    host = _get_host_of_direct_name(format_name)
    for queue in qm.adm.OutgoingQueues.values():
        other = queue.DestinationFormatName
        if host and other.lower() != format_name.lower() and _get_host_of_direct_name(other) == host:
            return queue
    return None


def _count_ended_attempts_with_status(session: Session, status: ConnectionStatus) -> int:
    """Return the number of attempts of a session that ended with the given status."""
    return sum(entry.Status is status for entry in get_outgoing_queue(session).ConnectionHistory)


# -- MQQB-3.1.5.2.1-01 and -02: the format name and its OutgoingQueue


@fault("sender-second-queue-of-host-named-as-first-queue", breaks="MQQB-3.1.5.2.1-01", blind=True)
class SenderSecondQueueOfHostNamedAsFirstQueue(MessageSending):
    """When the sender has messages for two queues of one host, DestinationQueue of a UserMessage for the second queue
    names the first queue.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        first = _find_queue_of_same_host(self.qm, message.DestinationQueueFormatName)
        if first is not None and position.QueueReference is not first:
            position = replace(
                position,
                MessageReference=replace(message, DestinationQueueFormatName=first.DestinationFormatName),
            )
        return super().construct_user_message(position)


@fault("initiator-no-session-for-second-queue-of-host", breaks="MQQB-3.1.5.2.1-01", blind=True)
class InitiatorNoSessionForSecondQueueOfHost(SessionEstablishing):
    """The initiator opens no session for a second queue of a host while the session for the first queue is open."""

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        first = _find_queue_of_same_host(self.qm, get_outgoing_queue(session).DestinationFormatName)
        if first is None or first.session.transport not in self.qm.transports:
            super().establish(session, now, again=again)


@fault("initiator-opens-session-for-private-name-with-host-of-direct-one", breaks="MQQB-3.1.5.2.1-01", blind=True)
class InitiatorOpensSessionForPrivateNameWithHostOfDirectOne(NextHops):
    """While the initiator has a direct session, it opens the session for a private format name with the host of the
    direct session.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        host = _find_direct_host(self.qm)
        return found if host is None or _get_host_of_direct_name(format_name) else Destination(host, NULL_GUID)


@fault("sender-queues-of-one-host-share-outgoing-queue", breaks="MQQB-3.1.5.2.1-02", blind=True)
class SenderQueuesOfOneHostShareOutgoingQueue(DestinationResolving):
    """The sender puts messages to a second queue of a host into the OutgoingQueue of the first queue."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        return _find_queue_of_same_host(self.qm, text) or super().open_outgoing_queue(text, now)


@fault("sender-new-outgoing-queue-while-destination-unreachable", breaks="MQQB-3.1.5.2.1-02", blind=True)
class SenderNewOutgoingQueueWhileDestinationUnreachable(DestinationResolving):
    """The sender creates another OutgoingQueue for a message to a format name whose session is not open."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        known = self.qm.adm.OutgoingQueues.get(text.lower())
        if known is not None and known.session.SessionState is not SessionState.OPEN:
            self.qm.adm.OutgoingQueues[f"{text.lower()} {known.session.number}"] = known
            del self.qm.adm.OutgoingQueues[text.lower()]
        return super().open_outgoing_queue(text, now)


@fault("sender-second-queue-of-host-has-format-name-of-first-queue", breaks="MQQB-3.1.5.2.1-02", blind=True)
class SenderSecondQueueOfHostHasFormatNameOfFirstQueue(SessionAddressResolving):
    """The initiator sets DestinationFormatName of the OutgoingQueue for a second queue of a host to the format name of
    the first queue.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        queue = get_outgoing_queue(session)
        first = _find_queue_of_same_host(self.qm, queue.DestinationFormatName)
        if first is not None and first.session.number < session.number:
            queue.DestinationFormatName = first.DestinationFormatName


# -- MQQB-3.1.5.2.1-05 and -06: the host name and the GUID of the destination


@fault("initiator-first-guid-used-for-every-private-format-name", breaks="MQQB-3.1.5.2.1-05", blind=True)
class InitiatorFirstGuidUsedForEveryPrivateFormatName(NextHops):
    """The initiator uses the GUID of the first private format name for every later private format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        if _get_host_of_direct_name(format_name) is None:
            names = (one.DestinationFormatName for one in self.qm.adm.OutgoingQueues.values())
            format_name = next((one for one in names if _get_host_of_direct_name(one) is None), format_name)
        return super().get_destination_info(format_name)


@fault("initiator-host-name-of-direct-name-replaced", breaks="MQQB-3.1.5.2.1-05", blind=True)
class InitiatorHostNameOfDirectNameReplaced(NextHops):
    """The initiator replaces the host name in a direct format name with a wrong host name; it does not replace an
    address.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is not None and format_name.upper().startswith("DIRECT=OS:"):
            return replace(found, HostName=f"other-{found.HostName}")
        return found


@fault("initiator-destination-not-looked-up-again-at-retry", breaks="MQQB-3.1.5.2.1-05", blind=True)
class InitiatorDestinationNotLookedUpAgainAtRetry(SessionAddressResolving):
    """The initiator uses an empty host name and an unknown GUID when it resolves a destination again."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        if session.is_retrying_connection:
            self._fail_to_route(session, "the destination is not looked up again", now)
        else:
            super().resolve_host_address(session, now)


# -- MQQB-3.1.5.2.1-08 and -18: messages wait


def _drop_waiting_messages(qm: QueueManager, session: Session, *, recoverable: bool) -> None:
    for position in list(session.OutgoingMessageTable):
        if position.recoverable is recoverable:
            qm.message_sending.remove_unsent_message(session, position)


@fault("initiator-messages-dropped-after-second-unknown-destination", breaks="MQQB-3.1.5.2.1-08", blind=True)
class InitiatorMessagesDroppedAfterSecondUnknownDestination(SessionClosing):
    """The initiator deletes waiting express messages after it could not find their destination for the second time."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        missing = status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE and not session.destination.int
        if missing and _count_ended_attempts_with_status(session, status) > 1:
            _drop_waiting_messages(self.qm, session, recoverable=False)


@fault("initiator-recoverable-messages-of-unknown-destination-dropped", breaks="MQQB-3.1.5.2.1-08", blind=True)
class InitiatorRecoverableMessagesOfUnknownDestinationDropped(SessionClosing):
    """The initiator deletes waiting recoverable messages when it cannot find their destination."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        if status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE and not session.destination.int:
            _drop_waiting_messages(self.qm, session, recoverable=True)


@fault("initiator-connects-to-known-address-for-unknown-destination", breaks="MQQB-3.1.5.2.1-08", blind=True)
class InitiatorConnectsToKnownAddressForUnknownDestination(NextHops):
    """The initiator opens a session with the host of another outgoing queue when it cannot find a destination."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        host = _find_direct_host(self.qm)
        return found if found or host is None else Destination(host, NULL_GUID)


@fault("initiator-messages-dropped-after-second-missing-next-hop", breaks="MQQB-3.1.5.2.1-18", blind=True)
class InitiatorMessagesDroppedAfterSecondMissingNextHop(SessionClosing):
    """The initiator deletes waiting express messages after it found no next hop for the second time."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        missing = status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE and session.destination.int
        if missing and _count_ended_attempts_with_status(session, status) > 1:
            _drop_waiting_messages(self.qm, session, recoverable=False)


@fault("initiator-recoverable-messages-without-next-hop-dropped", breaks="MQQB-3.1.5.2.1-18", blind=True)
class InitiatorRecoverableMessagesWithoutNextHopDropped(SessionClosing):
    """The initiator deletes waiting recoverable messages when the destination has no next hop."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        if status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE and session.destination.int:
            _drop_waiting_messages(self.qm, session, recoverable=True)


@fault("initiator-uses-next-hop-of-other-session-when-none-exists", breaks="MQQB-3.1.5.2.1-18", blind=True)
class InitiatorUsesNextHopOfOtherSessionWhenNoneExists(SessionAddressResolving):
    """The initiator connects to the next hop of another session when a destination has no next hop."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        other = find_other_session_with_next_hops(self.qm, session, direct=False) or find_other_session_with_next_hops(
            self.qm, session, direct=True
        )
        info = self.qm.next_hops.get_destination_info(get_outgoing_queue(session).DestinationFormatName)
        guid = NULL_GUID if info is None else info.QueueManagerGuid
        if other is None or not guid.int or self.qm.next_hops.get_next_hops(guid):
            super().resolve_host_address(session, now)
        else:
            session.unresolved_next_hops, session.addresses = list(other.NextHopCollection), {}
            session.NextHopCollection.clear()
            for hop in session.unresolved_next_hops:
                self.store_addresses(session, hop.HostName, (hop.Address,), now)


# -- MQQB-3.1.5.2.1-13 to -16: the host, the GUID and the next hop


@fault("initiator-connects-to-host-of-first-direct-session", breaks="MQQB-3.1.5.2.1-13", blind=True)
class InitiatorConnectsToHostOfFirstDirectSession(SessionAddressResolving):
    """The initiator connects to the address of the first direct session for a second direct format name."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        other = find_other_session_with_next_hops(self.qm, session, direct=True)
        if session.is_destination_direct and other is not None and other.number < session.number:
            session.RemoteQMAddress = other.NextHopCollection[0].Address


@fault("initiator-connects-to-host-of-last-direct-session-at-retry", breaks="MQQB-3.1.5.2.1-13", blind=True)
class InitiatorConnectsToHostOfLastDirectSessionAtRetry(SessionAddressResolving):
    """When the initiator resolves a direct format name again, it connects to the host of another direct session."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        other = find_other_session_with_next_hops(self.qm, session, direct=True)
        if session.is_destination_direct and session.is_retrying_connection and other is not None:
            session.RemoteQMAddress = other.NextHopCollection[0].Address


@fault("initiator-server-guid-is-zero-while-direct-session-exists", breaks="MQQB-3.1.5.2.1-14", blind=True)
class InitiatorServerGuidIsZeroWhileDirectSessionExists(SessionAddressResolving):
    """While a direct session exists, the initiator sends ServerGuid zero in its request for a destination that is
    identified by a GUID.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if (
            not session.is_destination_direct
            and find_other_session_with_next_hops(self.qm, session, direct=True) is not None
        ):
            session.RemoteQMGuid = NULL_GUID


@fault("initiator-connects-for-guid-to-address-of-direct-session", breaks="MQQB-3.1.5.2.1-15", blind=True)
class InitiatorConnectsForGuidToAddressOfDirectSession(SessionAddressResolving):
    """The initiator connects to the address of a direct session when it opens a session with a GUID destination."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        other = find_other_session_with_next_hops(self.qm, session, direct=True)
        if not session.is_destination_direct and other is not None:
            session.RemoteQMAddress = other.NextHopCollection[0].Address


# -- MQQB-3.1.5.2.1-23 and -25: the addresses of an attempt


@fault("initiator-next-hops-kept-in-retry-of-guid-destination", breaks="MQQB-3.1.5.2.1-23", blind=True)
class InitiatorNextHopsKeptInRetryOfGuidDestination(SessionAddressResolving):
    """The initiator does not clear NextHops when it resolves a GUID destination again."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        queue = get_outgoing_queue(session)
        if not session.is_destination_direct and session.is_retrying_connection:
            queue.NextHops.extend(queue.NextHops[:])


@fault("initiator-next-hops-of-lost-session-kept", breaks="MQQB-3.1.5.2.1-23", blind=True)
class InitiatorNextHopsOfLostSessionKept(SessionAddressResolving):
    """The initiator does not clear NextHops when it resolves the destination of a session that was open before."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        queue = get_outgoing_queue(session)
        before = list(queue.NextHops)
        super().resolve_host_address(session, now)
        if _count_ended_attempts_with_status(session, ConnectionStatus.ESTABLISHED):
            queue.NextHops[:0] = before


@fault("initiator-connects-to-address-of-first-host-for-second-host", breaks="MQQB-3.1.5.2.1-25", blind=True)
class InitiatorConnectsToAddressOfFirstHostForSecondHost(SessionAddressResolving):
    """When the initiator has resolved the host name of a second next hop, it connects to an address of the
    first host.
    """

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        others = (one.session for one in self.qm.adm.OutgoingQueues.values() if one.session is not session)
        known = [one.addresses for one in others if one.addresses]
        if known:
            addresses = next(iter(known[0].values()))
        super().store_addresses(session, host, addresses, now)
