"""Faults that break rules of MS-MQQB 3.1.5.2.1 Resolve Host Address: names and GUIDs of next hops."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, set_fields
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, EstablishConnectionPacket, PrivateName, PublicName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.directory import QueueManager as Machine
from reference_qm.model.adm import NextHop, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now

NETBIOS_NAME_LENGTH = 15


@fault("initiator-calls-get-next-hops-with-queue-guid-for-public-name", breaks="MQQB-3.1.5.2.1-16", blind=True)
class InitiatorCallsGetNextHopsWithQueueGuidForPublicName(SessionAddressResolving):
    """For a public format name, the argument of Get Next Hops is the GUID of the queue instead of the GUID of its queue
    manager.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        name = parse_format_name(get_outgoing_queue(session).DestinationFormatName)
        if isinstance(name, PublicName) and not self.qm.next_hops.get_next_hops(name.QueueGuid):
            self._fail_to_route(session, f"there is no route to {name.QueueGuid}", now)
            return
        super().resolve_host_address(session, now)


@fault("initiator-calls-get-next-hops-with-zero-guid-in-retry", breaks="MQQB-3.1.5.2.1-16", blind=True)
class InitiatorCallsGetNextHopsWithZeroGuidInRetry(NextHops):
    """From the second attempt to reach a destination, the argument of Get Next Hops is the GUID zero."""

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        known: set[UUID] = self.__dict__.setdefault("known", set())
        if guid in known:
            return super().get_next_hops(NULL_GUID)
        known.add(guid)
        return super().get_next_hops(guid)


@fault("initiator-calls-get-next-hops-with-last-guid-in-retry", breaks="MQQB-3.1.5.2.1-16", blind=True)
class InitiatorCallsGetNextHopsWithLastGuidInRetry(NextHops):
    """From the second attempt to reach a destination, the argument of Get Next Hops is the GUID of the destination that
    was resolved last, which can be another destination.
    """

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        known: dict[UUID, None] = self.__dict__.setdefault("known", {})
        asked = next(reversed(known)) if guid in known else guid
        known.pop(guid, None)
        known[guid] = None
        return super().get_next_hops(asked)


@fault("initiator-retry-asks-destination-info-for-newest-format-name", breaks="MQQB-3.1.5.2.1-06", blind=True)
class InitiatorRetryAsksDestinationInfoForNewestFormatName(NextHops):
    """From the second attempt to reach a destination, the argument of Get Destination Info is the format name of the
    newest outgoing queue.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        known: set[str] = self.__dict__.setdefault("known", set())
        if format_name in known:
            return super().get_destination_info(
                next(reversed(self.qm.adm.OutgoingQueues.values())).DestinationFormatName
            )
        known.add(format_name)
        return super().get_destination_info(format_name)


@fault("initiator-asks-destination-info-with-public-for-private-name", breaks="MQQB-3.1.5.2.1-06", blind=True)
class InitiatorAsksDestinationInfoWithPublicForPrivateName(NextHops):
    """For a private format name, the argument of Get Destination Info is a public format name with the same GUID."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        name = parse_format_name(format_name)
        if isinstance(name, PrivateName):
            return super().get_destination_info(str(PublicName(name.ComputerGuid)))
        return super().get_destination_info(format_name)


@fault("initiator-get-destination-info-with-name-of-unvalidated-queue", breaks="MQQB-3.1.5.2.1-06", blind=True)
class InitiatorGetDestinationInfoWithNameOfUnvalidatedQueue(NextHops):
    """While the State of an outgoing queue is NeedValidation, the argument of Get Destination Info is the format name
    of this queue, even if a message to another destination is sent.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.State is OutgoingQueueState.NEED_VALIDATION:
                return super().get_destination_info(queue.DestinationFormatName)
        return super().get_destination_info(format_name)


@fault("initiator-server-guid-zero-after-lost-session", breaks="MQQB-3.1.5.2.1-14", blind=True)
class InitiatorServerGuidZeroAfterLostSession(SessionEstablishing):
    """When a session to a destination with a GUID follows a lost session, ServerGuid of its request is zero."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        known: set[int] = self.__dict__.setdefault("known", set())
        session.is_destination_direct = session.is_destination_direct or session.number in known
        known.add(session.number)
        return super().build_establish_request(session, now)


@fault("initiator-server-guid-of-queue-for-public-name", breaks="MQQB-3.1.5.2.1-14", blind=True)
class InitiatorServerGuidOfQueueForPublicName(SessionEstablishing):
    """For a public format name, the initiator requests a session with the GUID of the queue."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        name = parse_format_name(get_outgoing_queue(session).DestinationFormatName)
        if isinstance(name, PublicName):
            session.RemoteQMGuid = name.QueueGuid
        return super().build_establish_request(session, now)


@fault("initiator-server-guid-copied-from-accepted-session", breaks="MQQB-3.1.5.2.1-14", blind=True)
class InitiatorServerGuidCopiedFromAcceptedSession(SessionEstablishing):
    """If the queue manager has accepted an open session, it requests a session with a destination that is identified by
    a GUID from the initiator of the accepted session.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        accepted = [one for one in self.qm.sessions.values() if not one.initiator and one.RemoteQMGuid != NULL_GUID]
        if accepted and not session.is_destination_direct:
            session.RemoteQMGuid = accepted[-1].RemoteQMGuid
        return super().build_establish_request(session, now)


@fault("initiator-host-name-of-next-hop-cut-to-15-characters", breaks="MQQB-3.1.5.2.1-29", blind=True)
class InitiatorHostNameOfNextHopCutTo15Characters(SessionAddressResolving):
    """HostName of a NextHop is the name of the queue manager, cut to 15 characters like a NetBIOS name."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        session.NextHopCollection[:] = [
            replace(hop, HostName=hop.HostName[:NETBIOS_NAME_LENGTH]) for hop in session.NextHopCollection
        ]
        session.RemoteQMHostName = session.RemoteQMHostName[:NETBIOS_NAME_LENGTH]


@fault("initiator-host-name-of-later-next-hop-is-address", breaks="MQQB-3.1.5.2.1-29", blind=True)
class InitiatorHostNameOfLaterNextHopIsAddress(SessionAddressResolving):
    """HostName of each NextHop after the first is the address of the NextHop."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        session.NextHopCollection[1:] = [replace(hop, HostName=hop.Address) for hop in session.NextHopCollection[1:]]


@fault("initiator-host-name-of-each-next-hop-is-first-resolved-name", breaks="MQQB-3.1.5.2.1-29", blind=True)
class InitiatorHostNameOfEachNextHopIsFirstResolvedName(SessionAddressResolving):
    """HostName of a NextHop is the name of the first queue manager that the initiator resolved."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if session.NextHopCollection:
            first = self.__dict__.setdefault("first", session.NextHopCollection[0].HostName)
            session.NextHopCollection[:] = [replace(hop, HostName=first) for hop in session.NextHopCollection]


def _change_guid_of_next_hops(session: Session, guid: UUID) -> None:
    session.NextHopCollection[:] = [replace(hop, QMGuid=guid) for hop in session.NextHopCollection]


@fault("initiator-next-hop-of-direct-name-has-own-guid-as-qm-guid", breaks="MQQB-3.1.5.2.1-30", blind=True)
class InitiatorNextHopOfDirectNameHasOwnGuidAsQmGuid(SessionAddressResolving):
    """QMGuid of the NextHop of a direct format name is the Identifier of the initiator."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if session.is_destination_direct:
            _change_guid_of_next_hops(session, self.qm.adm.Identifier)


@fault("initiator-next-hop-of-public-name-has-queue-guid-as-qm-guid", breaks="MQQB-3.1.5.2.1-30", blind=True)
class InitiatorNextHopOfPublicNameHasQueueGuidAsQmGuid(SessionAddressResolving):
    """QMGuid of the NextHop of a public format name is the GUID of the queue."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        name = parse_format_name(get_outgoing_queue(session).DestinationFormatName)
        if isinstance(name, PublicName):
            _change_guid_of_next_hops(session, name.QueueGuid)


@fault("initiator-remote-guid-of-direct-session-is-own", breaks="MQQB-3.1.5.2.1-37", blind=True)
class InitiatorRemoteGuidOfDirectSessionIsOwn(SessionAddressResolving):
    """Until the response arrives, RemoteQMGuid of a session to a direct format name is the initiator's Identifier."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.is_destination_direct:
            session.RemoteQMGuid = self.qm.adm.Identifier


@fault("initiator-remote-guid-of-lost-direct-session-kept", breaks="MQQB-3.1.5.2.1-37", blind=True)
class InitiatorRemoteGuidOfLostDirectSessionKept(SessionAddressResolving):
    """When a session to a direct format name follows a lost session, RemoteQMGuid remains the GUID of the acceptor of
    the lost session.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        self.__dict__.setdefault("kept", {})[session.number] = session.RemoteQMGuid
        super().resolve_host_address(session, now)

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        kept = self.__dict__.get("kept", {}).get(session.number, NULL_GUID)
        if session.is_destination_direct and kept != NULL_GUID:
            session.RemoteQMGuid = kept


@fault("initiator-remote-guid-of-second-session-is-guid-of-first", breaks="MQQB-3.1.5.2.1-37", blind=True)
class InitiatorRemoteGuidOfSecondSessionIsGuidOfFirst(SessionAddressResolving):
    """RemoteQMGuid of a session is the QMGuid of the NextHop of the oldest session to another queue manager."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        others = [one for one in self.qm.sessions.values() if one.initiator and one.NextHopCollection]
        hops: list[NextHop] = others[0].NextHopCollection if others else session.NextHopCollection
        session.RemoteQMGuid = hops[0].QMGuid


@fault("initiator-host-name-of-next-hop-is-address-in-retry", breaks="MQQB-3.1.5.2.1-29")
class InitiatorHostNameOfNextHopIsAddressInRetry(SessionAddressResolving):
    """When the initiator resolves a destination again, HostName of each NextHop is the address of the NextHop."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if session.is_retrying_connection:
            hops = session.NextHopCollection
            hops[:] = [replace(hop, HostName=hop.Address) for hop in hops]


class _MissingServerGuidFault(SessionEstablishing):
    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        return set_fields(
            super().build_establish_request(session, now), {"EstablishConnectionHeader.ServerGuid": NULL_GUID}
        )


add(
    "initiator-server-guid-zero-after-restart",
    "MQQB-3.1.5.2.1-14",
    "After a restart, ServerGuid of every EstablishConnection request is zero, even if the GUID of the destination is "
    "known.",
    change_core_at_restart(lambda qm: replace_part_by_subclass(qm, _MissingServerGuidFault)),
)


class _OwnGuidInNextHopsFault(NextHops):
    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        return super().get_next_hops(self.qm.adm.Identifier)


add(
    "initiator-next-hops-of-own-guid-after-restart",
    "MQQB-3.1.5.2.1-16",
    "After a restart, the argument of Get Next Hops is the Identifier of the initiator.",
    change_core_at_restart(lambda qm: replace_part_by_subclass(qm, _OwnGuidInNextHopsFault)),
)
