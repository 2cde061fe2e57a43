"""Faults that break the rules MQQB-3.1.5.2.1-01 to MQQB-3.1.5.2.1-21."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.fields import limit_to_sender_role, set_field_value
from harness.faults.made_up import MADE_UP_GUID, UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_after_every_input
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionPacket,
    PublicName,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.directory.objects import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("sender-user-message-names-wrong-destination-queue", breaks="MQQB-3.1.5.2.1-01")
class SenderUserMessageNamesWrongDestinationQueue(MessageSending):
    """The sender's UserMessage names a DestinationQueue other than the queue of its format name."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        other = DirectQueueFormatName("TCP:127.0.0.1\\private$\\other")
        return replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=other))


def _change_keys_of_outgoing_queues(qm: QueueManager) -> None:
    queues = qm.adm.OutgoingQueues
    qm.adm.OutgoingQueues = {
        f"{number} {queue.DestinationFormatName}": queue for number, queue in enumerate(queues.values())
    }


add(
    "sender-outgoing-queue-created-for-each-message",
    "MQQB-3.1.5.2.1-02",
    "The sender creates a new OutgoingQueue for each message to a format name.",
    change_core_after_every_input(_change_keys_of_outgoing_queues),
)


@fault("initiator-outgoing-queue-reference-to-queue-of-other-name", breaks="MQQB-3.1.5.2.1-03")
class InitiatorOutgoingQueueReferenceToQueueOfOtherName(SessionOpening):
    """The initiator's OutgoingQueueReference is the OutgoingQueue of a different format name."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues.values()
        others = [queue for queue in queues if queue is not session.OutgoingQueueReference]
        if others:
            session.OutgoingQueueReference = others[-1]
        super().receive_parameters_response(session, packet, now)


@fault("initiator-next-hops-of-other-queues-cleared", breaks="MQQB-3.1.5.2.1-03", blind=True)
class InitiatorNextHopsOfOtherQueuesCleared(SessionAddressResolving):
    """When a session for one format name is opened, the initiator also clears NextHops of every other
    outgoing queue.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            queue.NextHops.clear()
        super().resolve_host_address(session, now)


@fault("initiator-connects-to-host-other-than-in-format-name", breaks=("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13"))
class InitiatorConnectsToHostOtherThanInFormatName(NextHops):
    """The initiator connects to a host other than the host in the format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        return found and replace(found, HostName=UNUSED_ADDRESS)


@fault("initiator-always-asks-destination-info-for-first-format-name", breaks="MQQB-3.1.5.2.1-06")
class InitiatorAlwaysAsksDestinationInfoForFirstFormatName(NextHops):
    """The initiator always calls Get Destination Info with the first format name that it used."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        return super().get_destination_info(first.DestinationFormatName)


_first_destination_by_queue_manager: WeakKeyDictionary[QueueManager, Destination] = WeakKeyDictionary()


@fault("initiator-destination-of-first-format-name-used-for-all", breaks="MQQB-3.1.5.2.1-06", blind=True)
class InitiatorDestinationOfFirstFormatNameUsedForAll(NextHops):
    """The initiator determines the host of a direct format name only once, and uses this host for every direct format
    name.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or found.QueueManagerGuid != NULL_GUID:
            return found
        return _first_destination_by_queue_manager.setdefault(self.qm, found)


def _get_first_routed_host(qm: QueueManager) -> str:
    return next(iter(qm.config.routes.values()))


@fault("initiator-connects-for-unknown-public-queue", breaks="MQQB-3.1.5.2.1-08")
class InitiatorConnectsForUnknownPublicQueue(NextHops):
    """The initiator connects to an arbitrary host for a public queue that is in no directory."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        return super().get_destination_info(format_name) or Destination(_get_first_routed_host(self.qm), NULL_GUID)


def _has_public_destination(session: Session) -> bool:
    queue = session.OutgoingQueueReference
    return queue is not None and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)


def _skip_reconnection_by_name_kind(*, public: bool) -> Install:
    """Prevent the initiator from connecting again, either for public format names or for all other format names, as the
    caller chooses.
    """

    class ReconnectionSkipped(SessionClosing):
        def await_reconnect(self, session: Session, now: Now) -> None:
            if _has_public_destination(session) is not public:
                super().await_reconnect(session, now)

    return replace_part(ReconnectionSkipped)


add(
    "initiator-unknown-queue-retry-timer-not-started",
    "MQQB-3.1.5.2.1-10",
    "The initiator starts no Session Retry Connect Timer for a queue that is in no directory.",
    _skip_reconnection_by_name_kind(public=True),
)


@fault(
    "initiator-no-retry-timer-after-second-failure-to-find-destination",
    breaks=("MQQB-3.1.5.2.1-10", "MQQB-3.1.5.2.1-20"),
    blind=True,
)
class InitiatorNoRetryTimerAfterSecondFailureToFindDestination(SessionClosing):
    """When a retry also finds no destination or next hop, the initiator does not restart the Session Retry Connect
    Timer.
    """

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        if session.is_retrying_connection and status is ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


def _skip_need_validation(*, public: bool) -> Install:
    """Prevent the initiator from setting NeedValidation, either for queues with public format names or for all other
    queues, as the caller chooses.
    """

    class NeedValidationSkipped(SessionAddressResolving):
        def set_need_validation_state(self, session: Session) -> None:
            if _has_public_destination(session) is not public:
                super().set_need_validation_state(session)

    return replace_part(NeedValidationSkipped)


add(
    "initiator-unknown-queue-state-disconnected",
    "MQQB-3.1.5.2.1-11",
    "The initiator sets State of the outgoing queue to Disconnected for a queue that is in no directory.",
    _skip_need_validation(public=True),
)


@fault(
    "initiator-queue-state-inactive-if-destination-unknown-again",
    breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"),
    blind=True,
)
class InitiatorQueueStateInactiveIfDestinationUnknownAgain(SessionAddressResolving):
    """When a retry also finds no destination or next hop, the initiator sets State of the outgoing queue
    to Inactive.
    """

    def set_need_validation_state(self, session: Session) -> None:
        super().set_need_validation_state(session)
        queue = get_outgoing_queue(session)
        if session.is_retrying_connection and queue.State is OutgoingQueueState.NEED_VALIDATION:
            queue.State = OutgoingQueueState.INACTIVE


@fault(
    "initiator-state-of-every-queue-set-to-need-validation",
    breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"),
    blind=True,
)
class InitiatorStateOfEveryQueueSetToNeedValidation(SessionAddressResolving):
    """When the initiator cannot find a destination, it sets State of every outgoing queue to NeedValidation."""

    def set_need_validation_state(self, session: Session) -> None:
        super().set_need_validation_state(session)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.State is not OutgoingQueueState.ON_HOLD:
                queue.State = OutgoingQueueState.NEED_VALIDATION


@fault(
    "initiator-state-of-second-unresolvable-queue-not-need-validation",
    breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"),
    blind=True,
)
class InitiatorStateOfSecondUnresolvableQueueNotNeedValidation(SessionAddressResolving):
    """The initiator sets State to NeedValidation only for the first of two outgoing queues whose destinations cannot be
    found.
    """

    def set_need_validation_state(self, session: Session) -> None:
        states = [queue.State for queue in self.qm.adm.OutgoingQueues.values()]
        if OutgoingQueueState.NEED_VALIDATION not in states:
            super().set_need_validation_state(session)


@fault(
    "initiator-retry-replaces-queue-state-on-hold-by-need-validation",
    breaks=("MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2.1-21"),
    blind=True,
)
class InitiatorRetryReplacesQueueStateOnHoldByNeedValidation(SessionAddressResolving):
    """When a retry finds no destination or next hop, the initiator sets State of a queue that is OnHold
    to NeedValidation.
    """

    def set_need_validation_state(self, session: Session) -> None:
        queue = get_outgoing_queue(session)
        if len(session.OutgoingMessageTable):
            queue.State = OutgoingQueueState.NEED_VALIDATION


add(
    "initiator-establish-connection-server-guid-always-zero",
    ("MQQB-3.1.5.2.1-14", "MQQB-3.1.5.2.3-08"),
    "The initiator's EstablishConnection request has a ServerGuid of zero for a private format name.",
    limit_to_sender_role(
        "initiator", set_field_value(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", NULL_GUID)
    ),
)


_NextHopTuple = tuple[DirectoryQueueManager, ...]


def _build_next_hops(guid: UUID, host: str) -> _NextHopTuple:
    return (DirectoryQueueManager(Identifier=guid, QualifiedComputerName=host),)


@fault("initiator-connects-to-address-of-no-next-hop", breaks=("MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-25"))
class InitiatorConnectsToAddressOfNoNextHop(NextHops):
    """The initiator connects to an address other than the address of the next hop."""

    def get_next_hops(self, guid: UUID) -> _NextHopTuple:
        return _build_next_hops(guid, UNUSED_ADDRESS)


@fault("initiator-get-next-hops-called-with-wrong-guid", breaks="MQQB-3.1.5.2.1-16")
class InitiatorGetNextHopsCalledWithWrongGuid(NextHops):
    """The initiator calls Get Next Hops with a GUID other than the GUID of the destination."""

    def get_next_hops(self, guid: UUID) -> _NextHopTuple:
        return super().get_next_hops(MADE_UP_GUID)


@fault("initiator-connects-for-destination-without-next-hop", breaks=("MQQB-3.1.5.2.1-18", "MQQB-3.1.7.5-D03"))
class InitiatorConnectsForDestinationWithoutNextHop(NextHops):
    """The initiator connects to an arbitrary host for a destination without a next hop."""

    def get_next_hops(self, guid: UUID) -> _NextHopTuple:
        return super().get_next_hops(guid) or _build_next_hops(guid, _get_first_routed_host(self.qm))


add(
    "initiator-missing-next-hop-retry-timer-not-started",
    "MQQB-3.1.5.2.1-20",
    "The initiator starts no Session Retry Connect Timer for a destination without a next hop.",
    _skip_reconnection_by_name_kind(public=False),
)


add(
    "initiator-missing-next-hop-queue-state-disconnected",
    "MQQB-3.1.5.2.1-21",
    "The initiator sets State of the outgoing queue to Disconnected for a destination without a next hop.",
    _skip_need_validation(public=False),
)


@fault("initiator-no-next-hop-at-retry-state-not-need-validation", breaks="MQQB-3.1.5.2.1-21", blind=True)
class InitiatorNoNextHopAtRetryStateNotNeedValidation(SessionAddressResolving):
    """The initiator leaves State of the outgoing queue at Disconnected if it finds no next hop when the Session Retry
    Connect Timer has expired.
    """

    def set_need_validation_state(self, session: Session) -> None:
        if not session.is_retrying_connection:
            super().set_need_validation_state(session)
