"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import field_is, sent_as
from harness.faults.made_up import ELSEWHERE, OTHER_GUID
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


def _hop_at(guid: UUID, host: str) -> _Hops:
    return (DirectoryQueueManager(Identifier=guid, QualifiedComputerName=host),)


def _some_host(qm: QueueManager) -> str:
    return next(iter(qm.config.routes.values()))


# -- the outgoing queue --------------------------------------------------------------------------------------------


@fault("message-names-another-queue", breaks="MQQB-3.1.5.2.1-01")
class MessageNamesAnotherQueue(Sending):
    """Messages go out with another queue than that of their format name."""

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
    "outgoing-queue-for-each-message",
    "MQQB-3.1.5.2.1-02",
    "An OutgoingQueue is not found again: the next message gets another.",
    always(_hide_outgoing_queues),
)


@fault("outgoing-queue-of-another-name", breaks="MQQB-3.1.5.2.1-03")
class OutgoingQueueOfAnotherName(SessionOpening):
    """OutgoingQueueReference is the OutgoingQueue of another format name."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues.values()
        others = [queue for queue in queues if queue is not session.OutgoingQueueReference]
        if others:
            session.OutgoingQueueReference = others[-1]
        super().receive_parameters_response(session, packet, now)


# -- where a format name leads -------------------------------------------------------------------------------------


@fault("destination-host-made-up", breaks=("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13"))
class DestinationHostMadeUp(NextHops):
    """The host is not that of the format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        return found and replace(found, HostName=ELSEWHERE)


@fault("destination-of-the-first-name", breaks="MQQB-3.1.5.2.1-06")
class DestinationOfTheFirstName(NextHops):
    """Get Destination Info is asked about the first format name ever."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        return super().get_destination_info(first.DestinationFormatName)


@fault("next-hop-not-asked-for", breaks=("MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-25"))
class NextHopNotAskedFor(NextHops):
    """The address is not that of the next hop."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return _hop_at(guid, ELSEWHERE)


@fault("next-hop-to-another-queue-manager", breaks="MQQB-3.1.5.2.1-16")
class NextHopToAnotherQueueManager(NextHops):
    """Get Next Hops is asked about another GUID."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return super().get_next_hops(OTHER_GUID)


add(
    "establish-request-unnamed-server",
    ("MQQB-3.1.5.2.1-14", "MQQB-3.1.5.2.3-08"),
    "ServerGuid is zero for a private name too.",
    sent_as("initiator", field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", NULL_GUID)),
)


# -- destinations that cannot be found -----------------------------------------------------------------------------


@fault("unknown-queue-guessed", breaks="MQQB-3.1.5.2.1-08")
class UnknownQueueGuessed(NextHops):
    """A queue that no directory knows is looked for on some host."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        return super().get_destination_info(format_name) or Destination(_some_host(self.qm), NULL_GUID)


@fault("unknown-queue-manager-guessed", breaks=("MQQB-3.1.5.2.1-18", "MQQB-3.1.7.5-D03"))
class UnknownQueueManagerGuessed(NextHops):
    """A queue manager without a next hop is looked for on some host."""

    def get_next_hops(self, guid: UUID) -> _Hops:
        return super().get_next_hops(guid) or _hop_at(guid, _some_host(self.qm))


def _is_public(session: Session) -> bool:
    queue = session.OutgoingQueueReference
    return queue is not None and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)


def _not_tried_again(*, public: bool) -> Install:
    """Do not connect again for public format names, or for the others."""

    class NotTriedAgain(Closing):
        def await_reconnect(self, session: Session, now: Now) -> None:
            if _is_public(session) is not public:
                super().await_reconnect(session, now)

    return replace_part(NotTriedAgain)


def _not_marked(*, public: bool) -> Install:
    """Do not mark the queues of public format names, or of the others."""

    class NotMarked(Resolving):
        def need_validation(self, session: Session) -> None:
            if _is_public(session) is not public:
                super().need_validation(session)

    return replace_part(NotMarked)


add(
    "unknown-queue-not-tried-again",
    "MQQB-3.1.5.2.1-10",
    "No Session Retry Connect Timer runs for a queue that no directory knows.",
    _not_tried_again(public=True),
)
add(
    "unknown-queue-manager-not-tried-again",
    "MQQB-3.1.5.2.1-20",
    "No Session Retry Connect Timer runs for a queue manager without a next hop.",
    _not_tried_again(public=False),
)
add(
    "unknown-queue-needs-no-validation",
    "MQQB-3.1.5.2.1-11",
    "State of the outgoing queue for a queue that no directory knows is Disconnected.",
    _not_marked(public=True),
)
add(
    "unknown-queue-manager-needs-no-validation",
    "MQQB-3.1.5.2.1-21",
    "State of the outgoing queue for a queue manager without a next hop is Disconnected.",
    _not_marked(public=False),
)


# -- next hops -----------------------------------------------------------------------------------------------------


@fault("next-hops-pile-up", breaks="MQQB-3.1.5.2.1-23")
class NextHopsPileUp(Resolving):
    """NextHops keeps the addresses of earlier attempts."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        queue = outgoing_queue(session)
        earlier = list(queue.NextHops)
        super().resolve_host_address(session, now)
        queue.NextHops[:0] = earlier


@fault("next-hops-bare", breaks="MQQB-3.1.5.2.1-27")
class NextHopsBare(Resolving):
    """NextHops has addresses without IP=."""

    def use_addresses(self, session: Session, now: Now) -> None:
        super().use_addresses(session, now)
        hops = outgoing_queue(session).NextHops
        hops[:] = [hop.partition("=")[2] for hop in hops]


@fault("next-hop-twice", breaks=("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-32"))
class NextHopTwice(Resolving):
    """NextHopCollection has a NextHop too many."""

    def use_addresses(self, session: Session, now: Now) -> None:
        super().use_addresses(session, now)
        session.NextHopCollection += session.NextHopCollection[-1:]


def _hop_with(**changes: Any) -> Install:
    """Make next hops with other attributes."""

    class HopWith(Resolving):
        def select_next_hop(self, session: Session) -> None:
            session.NextHopCollection[:] = [replace(hop, **changes) for hop in session.NextHopCollection]
            super().select_next_hop(session)

    return replace_part(HopWith)


add(
    "next-hop-host-name",
    "MQQB-3.1.5.2.1-29",
    "HostName of a NextHop is made up.",
    _hop_with(HostName="elsewhere.invalid"),
)
add("next-hop-guid", "MQQB-3.1.5.2.1-30", "QMGuid of a NextHop is made up.", _hop_with(QMGuid=OTHER_GUID))


@fault("next-hop-address", breaks="MQQB-3.1.5.2.1-31")
class NextHopAddress(Establishing):
    """Address of a NextHop is made up."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.NextHopCollection[:] = [replace(hop, Address=ELSEWHERE) for hop in session.NextHopCollection]
        session.RemoteQMAddress = ELSEWHERE


class _SecondHopFirst(Resolving):
    def use_addresses(self, session: Session, now: Now) -> None:
        super().use_addresses(session, now)
        session.NextHopIndexer = 1


class _FirstHopWhenOpen(SessionOpening):
    """Go back to the NextHop that there is before the indexer is used."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        session.NextHopIndexer = 0
        super().receive_parameters_response(session, packet, now)


add(
    "next-hop-indexer",
    "MQQB-3.1.5.2.1-33",
    "NextHopIndexer starts at the second NextHop.",
    both(replace_part(_SecondHopFirst), replace_part(_FirstHopWhenOpen)),
)


@fault("next-hop-indexer-stays", breaks="MQQB-3.1.5.2.1-33")
class NextHopIndexerStays(Resolving):
    """When the name is resolved again NextHopIndexer stays at the last address that was tried."""

    def use_addresses(self, session: Session, now: Now) -> None:
        self.last = session.NextHopIndexer
        super().use_addresses(session, now)

    def select_next_hop(self, session: Session) -> None:
        session.NextHopIndexer = max(session.NextHopIndexer, self.last)
        super().select_next_hop(session)


def _remote(element: str, value: object) -> Install:
    """Set what a session takes from its next hop, once the request is on its way."""

    class Remote(Establishing):
        def send_establish_request(self, session: Session, now: Now) -> None:
            super().send_establish_request(session, now)
            setattr(session, element, value)

    return replace_part(Remote)


add(
    "remote-address",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-35"),
    "RemoteQMAddress is not the NextHop's.",
    _remote("RemoteQMAddress", ELSEWHERE),
)
add(
    "remote-host-name",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-36"),
    "RemoteQMHostName is not the NextHop's.",
    _remote("RemoteQMHostName", "elsewhere.invalid"),
)
add(
    "remote-guid",
    ("MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-37"),
    "RemoteQMGuid is not the NextHop's.",
    _remote("RemoteQMGuid", NULL_GUID),
)


class _RefusesUnknownQueues(Destinations):
    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PublicName) and name.QueueGuid not in self.qm.config.public_queues:
            raise CommandError(f"{text}: MQ_ERROR_QUEUE_NOT_FOUND (MS-MQDMPR 3.1.7.1.5)")
        return super().open_outgoing(text, now)


add(
    "send-to-unknown-public-refused",
    (),
    "Tolerated: a message to a public queue that nobody knows is refused (MS-MQDMPR 3.1.7.1.5).",
    replace_part(_RefusesUnknownQueues),
)
