"""Faults of an initiator with several destinations, several sessions or unusual format names. Spec: MS-MQQB 3.1.7.4."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.other_sessions import find_other_session_with_next_hops
from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket, PrivateName, PublicName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.directory import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-format-name-in-lower-case-unknown", breaks="MQQB-3.1.7.4-02", blind=True)
class InitiatorFormatNameInLowerCaseUnknown(NextHops):
    """The initiator finds no destination for a private format name whose prefix is in lower case."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        return None if format_name.startswith("private=") else super().get_destination_info(format_name)


@fault("initiator-public-name-after-private-name-read-as-private", breaks="MQQB-3.1.7.4-02", blind=True)
class InitiatorPublicNameAfterPrivateNameReadAsPrivate(NextHops):
    """After a private format name, the initiator takes the GUID in a public format name as the GUID of a queue
    manager.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        name = parse_format_name(format_name)
        if isinstance(name, PrivateName):
            self.__dict__["has_private"] = True
        if isinstance(name, PublicName) and self.__dict__.get("has_private"):
            return Destination("", name.QueueGuid)
        return super().get_destination_info(format_name)


class _NextHopsWithChangedHostsOfDirectNames(NextHops):
    """Changes the hosts of direct format names."""

    def change_host(self, host: str) -> str:
        raise NotImplementedError

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or found.QueueManagerGuid.int or not found.HostName:
            return found
        return replace(found, HostName=self.change_host(found.HostName))


@fault("initiator-domain-cut-from-host-of-direct-name", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorDomainCutFromHostOfDirectName(_NextHopsWithChangedHostsOfDirectNames):
    """The initiator uses only the part before the first dot of a host name in a direct format name."""

    def change_host(self, host: str) -> str:
        return host if host.replace(".", "").isdigit() or ":" in host else host.partition(".")[0]


@fault("initiator-host-of-first-direct-name-used-for-every-direct-name", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorHostOfFirstDirectNameUsedForEveryDirectName(_NextHopsWithChangedHostsOfDirectNames):
    """The initiator uses the host of the first direct format name for every direct format name."""

    def change_host(self, host: str) -> str:
        first: str = self.__dict__.setdefault("first_host", host)
        return first


@fault("initiator-uses-guid-of-other-session-for-direct-name", breaks="MQQB-3.1.7.4-05", blind=True)
class InitiatorUsesGuidOfOtherSessionForDirectName(SessionEstablishing):
    """For a direct format name, the initiator uses the GUID of the queue manager with which it has another session."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        other = find_other_session_with_next_hops(self.qm, session, direct=True)
        if not session.is_destination_direct or other is None:
            return packet
        header = replace(packet.EstablishConnectionHeader, ServerGuid=other.RemoteQMGuid)
        return replace(packet, EstablishConnectionHeader=header)


@fault("initiator-own-guid-used-for-direct-name-of-host", breaks="MQQB-3.1.7.4-05", blind=True)
class InitiatorOwnGuidUsedForDirectNameOfHost(SessionEstablishing):
    """For a direct format name with the protocol OS, the initiator uses its own GUID for the queue manager."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if not get_outgoing_queue(session).DestinationFormatName.upper().startswith("DIRECT=OS:"):
            return packet
        header = replace(packet.EstablishConnectionHeader, ServerGuid=self.qm.adm.Identifier)
        return replace(packet, EstablishConnectionHeader=header)


@fault("initiator-guid-of-first-public-name-used-for-every-public-name", breaks="MQQB-3.1.7.4-07", blind=True)
class InitiatorGuidOfFirstPublicNameUsedForEveryPublicName(NextHops):
    """The initiator uses the GUID of the first public format name for every public format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        if isinstance(parse_format_name(format_name), PublicName):
            format_name = self.__dict__.setdefault("first_name", format_name)
        return super().get_destination_info(format_name)


@fault("initiator-public-name-guid-on-later-connection-missing", breaks="MQQB-3.1.7.4-07", blind=True)
class InitiatorPublicNameGuidOnLaterConnectionMissing(NextHops):
    """The initiator obtains the GUID from a public format name only for the first connection."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        asked = self.__dict__.setdefault("asked", set())
        if isinstance(parse_format_name(format_name), PublicName):
            if format_name in asked:
                return None
            asked.add(format_name)
        return super().get_destination_info(format_name)


@fault("initiator-public-name-failed-search-not-repeated", breaks="MQQB-3.1.7.4-08", blind=True)
class InitiatorPublicNameFailedSearchNotRepeated(NextHops):
    """The initiator does not read a public queue from the directory again after it did not find the queue once."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        missing = self.__dict__.setdefault("missing", set())
        found = None if format_name in missing else super().get_destination_info(format_name)
        if found is None:
            missing.add(format_name)
        return found


@fault("initiator-address-of-direct-session-used-for-private-name", breaks="MQQB-3.1.7.4-15", blind=True)
class InitiatorAddressOfDirectSessionUsedForPrivateName(NextHops):
    """For a private format name, the initiator uses the address of a session that it opened for a direct name."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        found = super().get_next_hops(guid)
        for queue in self.qm.adm.OutgoingQueues.values():
            session = queue.session
            if session.is_destination_direct and session.SessionState is SessionState.OPEN:
                return tuple(replace(one, QualifiedComputerName=session.RemoteQMAddress) for one in found)
        return found


@fault("initiator-guid-of-first-private-name-used-for-second-private-name", breaks="MQQB-3.1.7.4-16", blind=True)
class InitiatorGuidOfFirstPrivateNameUsedForSecondPrivateName(NextHops):
    """The initiator uses the GUID of the first private format name with a route for a second private format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if not isinstance(parse_format_name(format_name), PrivateName) or found is None:
            return found
        if not self.get_next_hops(found.QueueManagerGuid):
            return found
        return replace(found, QueueManagerGuid=self.__dict__.setdefault("first_guid", found.QueueManagerGuid))


@fault("initiator-opens-no-session-while-other-session-waits-for-retry", breaks="MQQB-3.1.7.4-17", blind=True)
class InitiatorOpensNoSessionWhileOtherSessionWaitsForRetry(SessionAddressResolving):
    """The initiator opens no session to a destination while the session to another destination waits for its retry."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        others = (one for one in self.qm.sessions.values() if one is not session)
        if any(one.SessionState is SessionState.WAITING_RECONNECT for one in others):
            self._fail_to_route(session, "another destination is not reachable", now)
        else:
            super().resolve_host_address(session, now)


@fault("initiator-third-session-to-destination-omitted", breaks="MQQB-3.1.7.4-17", blind=True)
class InitiatorThirdSessionToDestinationOmitted(SessionAddressResolving):
    """The initiator opens no third session to a destination."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        counts = self.__dict__.setdefault("counts", {})
        counts[session.number] = counts.get(session.number, 0) + 1
        if counts[session.number] > 2:
            self._fail_to_route(session, "two sessions have ended", now)
        else:
            super().resolve_host_address(session, now)
