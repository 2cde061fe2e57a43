"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import field_is, sent_as
from harness.faults.made_up import OTHER_GUID, UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import always, both
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
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.sending import Sending
from reference_qm.directory.objects import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

_Hops = tuple[DirectoryQueueManager, ...]


def _build_next_hops(guid: UUID, host: str) -> _Hops:
    return (DirectoryQueueManager(Identifier=guid, QualifiedComputerName=host),)


def _pick_first_route(qm: QueueManager) -> str:
    return next(iter(qm.config.routes.values()))


# -- the outgoing queue --------------------------------------------------------------------------------------------


@fault("sender-user-message-destination-queue-wrong", breaks="MQQB-3.1.5.2.1-01")
class SenderUserMessageDestinationQueueWrong(Sending):
    """The sender's UserMessage names a DestinationQueue other than the queue of its format name."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        other = DirectQueueFormatName("TCP:127.0.0.1\\private$\\other")
        return replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=other))


def _hide_outgoing_queues(qm: QueueManager) -> None:
    queues = qm.adm.OutgoingQueues
    qm.adm.OutgoingQueues = {
        f"{number} {queue.DestinationFormatName}": queue for number, queue in enumerate(queues.values())
    }


add(
    "sender-outgoing-queue-created-for-each-message",
    "MQQB-3.1.5.2.1-02",
    "The sender creates a new OutgoingQueue for each message to a format name.",
    always(_hide_outgoing_queues),
)


@fault("initiator-outgoing-queue-reference-of-other-name", breaks="MQQB-3.1.5.2.1-03")
class InitiatorOutgoingQueueReferenceOfOtherName(SessionOpening):
    """The initiator's OutgoingQueueReference is the OutgoingQueue of a different format name."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues.values()
        others = [queue for queue in queues if queue is not session.OutgoingQueueReference]
        if others:
            session.OutgoingQueueReference = others[-1]
        super().receive_parameters_response(session, packet, now)


# -- destinations of format names ----------------------------------------------------------------------------------


@fault("initiator-destination-host-ignores-format-name", breaks=("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13"))
class InitiatorDestinationHostIgnoresFormatName(NextHops):
    """The initiator connects to a host other than the host in the format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        return found and replace(found, HostName=UNUSED_ADDRESS)


@fault("initiator-destination-info-of-first-format-name", breaks="MQQB-3.1.5.2.1-06")
class InitiatorDestinationInfoOfFirstFormatName(NextHops):
    """The initiator always calls Get Destination Info with the first format name that it used."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        return super().get_destination_info(first.DestinationFormatName)


@fault("initiator-connects-to-other-address-than-next-hop", breaks=("MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-25"))
class InitiatorConnectsToOtherAddressThanNextHop(NextHops):
    """The initiator connects to an address other than the address of the next hop."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return _build_next_hops(guid, UNUSED_ADDRESS)


@fault("initiator-next-hops-looked-up-for-wrong-guid", breaks="MQQB-3.1.5.2.1-16")
class InitiatorNextHopsLookedUpForWrongGuid(NextHops):
    """The initiator calls Get Next Hops with a GUID other than the GUID of the destination."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return super().get_next_hops(OTHER_GUID)


add(
    "initiator-establish-connection-server-guid-always-zero",
    ("MQQB-3.1.5.2.1-14", "MQQB-3.1.5.2.3-08"),
    "The initiator's EstablishConnection request has a ServerGuid of zero for a private format name.",
    sent_as("initiator", field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", NULL_GUID)),
)


# -- destinations that cannot be found -----------------------------------------------------------------------------


@fault("initiator-connects-for-unknown-public-queue", breaks="MQQB-3.1.5.2.1-08")
class InitiatorConnectsForUnknownPublicQueue(NextHops):
    """The initiator connects to an arbitrary host for a public queue that is in no directory."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        return super().get_destination_info(format_name) or Destination(_pick_first_route(self.qm), NULL_GUID)


@fault("initiator-connects-for-destination-without-next-hop", breaks=("MQQB-3.1.5.2.1-18", "MQQB-3.1.7.5-D03"))
class InitiatorConnectsForDestinationWithoutNextHop(NextHops):
    """The initiator connects to an arbitrary host for a destination without a next hop."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return super().get_next_hops(guid) or _build_next_hops(guid, _pick_first_route(self.qm))


def _has_public_destination(session: Session) -> bool:
    queue = session.OutgoingQueueReference
    return queue is not None and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)


def _skip_reconnection_by_kind_of_name(*, public: bool) -> Install:
    """Prevent the initiator from connecting again, either for public format names or for all other format names, as the
    caller chooses.
    """

    class RetrySkipped(Closing):
        def await_reconnect(self, session: Session, now: Now) -> None:
            if _has_public_destination(session) is not public:
                super().await_reconnect(session, now)

    return replace_part(RetrySkipped)


def _skip_validation_mark(*, public: bool) -> Install:
    """Prevent the initiator from setting NeedValidation, either for queues with public format names or for all other
    queues, as the caller chooses.
    """

    class ValidationMarkSkipped(Resolving):
        def require_validation(self, session: Session) -> None:
            if _has_public_destination(session) is not public:
                super().require_validation(session)

    return replace_part(ValidationMarkSkipped)


add(
    "initiator-unknown-queue-retry-timer-not-started",
    "MQQB-3.1.5.2.1-10",
    "The initiator starts no Session Retry Connect Timer for a queue that is in no directory.",
    _skip_reconnection_by_kind_of_name(public=True),
)
add(
    "initiator-missing-next-hop-retry-timer-not-started",
    "MQQB-3.1.5.2.1-20",
    "The initiator starts no Session Retry Connect Timer for a destination without a next hop.",
    _skip_reconnection_by_kind_of_name(public=False),
)
add(
    "initiator-unknown-queue-state-disconnected",
    "MQQB-3.1.5.2.1-11",
    "The initiator sets State of the outgoing queue to Disconnected for a queue that is in no directory.",
    _skip_validation_mark(public=True),
)
add(
    "initiator-missing-next-hop-queue-state-disconnected",
    "MQQB-3.1.5.2.1-21",
    "The initiator sets State of the outgoing queue to Disconnected for a destination without a next hop.",
    _skip_validation_mark(public=False),
)


# -- next hops -----------------------------------------------------------------------------------------------------


@fault("initiator-next-hops-keep-earlier-addresses", breaks="MQQB-3.1.5.2.1-23")
class InitiatorNextHopsKeepEarlierAddresses(Resolving):
    """The initiator's NextHops keeps the addresses of earlier attempts."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        queue = outgoing_queue(session)
        earlier = list(queue.NextHops)
        super().resolve_host_address(session, now)
        queue.NextHops[:0] = earlier


@fault("initiator-next-hops-address-without-prefix", breaks="MQQB-3.1.5.2.1-27")
class InitiatorNextHopsAddressWithoutPrefix(Resolving):
    """The initiator's NextHops lists addresses without the prefix IP= or IPv6=."""

    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        hops = outgoing_queue(session).NextHops
        hops[:] = [hop.partition("=")[2] for hop in hops]


@fault("initiator-next-hop-collection-last-hop-twice", breaks=("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-32"))
class InitiatorNextHopCollectionLastHopTwice(Resolving):
    """The initiator's NextHopCollection contains its last NextHop twice."""

    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        session.NextHopCollection += session.NextHopCollection[-1:]


def _change_next_hops(**changes: Any) -> Install:
    """Change attributes of each next hop."""

    class NextHopChanged(Resolving):
        def select_next_hop(self, session: Session) -> None:
            session.NextHopCollection[:] = [replace(hop, **changes) for hop in session.NextHopCollection]
            super().select_next_hop(session)

    return replace_part(NextHopChanged)


add(
    "initiator-next-hop-host-name-wrong",
    "MQQB-3.1.5.2.1-29",
    "HostName of the initiator's NextHop is not the name of that hop.",
    _change_next_hops(HostName="elsewhere.invalid"),
)
add(
    "initiator-next-hop-qm-guid-wrong",
    "MQQB-3.1.5.2.1-30",
    "QMGuid of the initiator's NextHop is not the Identifier of that hop.",
    _change_next_hops(QMGuid=OTHER_GUID),
)


@fault("initiator-next-hop-address-wrong", breaks="MQQB-3.1.5.2.1-31")
class InitiatorNextHopAddressWrong(Establishing):
    """The initiator sets Address of a NextHop to an address that is not the resolved address."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.NextHopCollection[:] = [replace(hop, Address=UNUSED_ADDRESS) for hop in session.NextHopCollection]
        session.RemoteQMAddress = UNUSED_ADDRESS


class _SecondHopFirst(Resolving):
    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        session.NextHopIndexer = 1


class _FirstHopWhenOpen(SessionOpening):
    """Set NextHopIndexer back to the existing NextHop before the indexer is used."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        session.NextHopIndexer = 0
        super().receive_parameters_response(session, packet, now)


add(
    "initiator-next-hop-indexer-begins-at-second",
    "MQQB-3.1.5.2.1-33",
    "The initiator's NextHopIndexer begins at the second NextHop.",
    both(replace_part(_SecondHopFirst), replace_part(_FirstHopWhenOpen)),
)


@fault("initiator-next-hop-indexer-kept-by-new-resolution", breaks="MQQB-3.1.5.2.1-33")
class InitiatorNextHopIndexerKeptByNewResolution(Resolving):
    """When the initiator resolves the name again, its NextHopIndexer stays at the address that it tried last."""

    def try_addresses(self, session: Session, now: Now) -> None:
        self.last = session.NextHopIndexer
        super().try_addresses(session, now)

    def select_next_hop(self, session: Session) -> None:
        session.NextHopIndexer = max(session.NextHopIndexer, self.last)
        super().select_next_hop(session)


def _change_remote_element(element: str, value: object) -> Install:
    """Set one of the session elements that are copied from the next hop to another value, after the request is sent."""

    class RemoteElementChanged(Establishing):
        def send_establish_request(self, session: Session, now: Now) -> None:
            super().send_establish_request(session, now)
            setattr(session, element, value)

    return replace_part(RemoteElementChanged)


add(
    "initiator-session-remote-address-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-35"),
    "The initiator's RemoteQMAddress is not the Address of the NextHop.",
    _change_remote_element("RemoteQMAddress", UNUSED_ADDRESS),
)
add(
    "initiator-session-remote-host-name-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-36"),
    "The initiator's RemoteQMHostName is not the HostName of the NextHop.",
    _change_remote_element("RemoteQMHostName", "elsewhere.invalid"),
)
add(
    "initiator-session-remote-guid-not-of-next-hop",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-37"),
    "The initiator's RemoteQMGuid is not the QMGuid of the NextHop.",
    _change_remote_element("RemoteQMGuid", NULL_GUID),
)


class _RefusesUnknownQueues(Destinations):
    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PublicName) and name.QueueGuid not in self.qm.config.public_queues:
            raise CommandError(f"{text}: MQ_ERROR_QUEUE_NOT_FOUND (MS-MQDMPR 3.1.7.1.5)")
        return super().open_outgoing(text, now)


add(
    "sender-message-to-unknown-public-queue-refused",
    (),
    "Tolerated: the sender refuses a message to a public queue that is in no directory (MS-MQDMPR 3.1.7.1.5).",
    replace_part(_RefusesUnknownQueues),
)
