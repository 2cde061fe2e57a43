"""Faults that break rules of MS-MQQB 3.1.7.4 Get Destination Info for a later destination or another form of name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    EstablishConnectionPacket,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    PublicQueuePath,
    parse_format_name,
)
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.directory import QueueManager
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_DIRECT_PATH_TYPES = (PrivateQueuePath, PublicQueuePath)
Run = Callable[..., Any]


def _reuse_first_destination(kinds: type | tuple[type, ...]) -> Install:
    """Return an installer of a fault that reuses the first destination of format names of some kinds."""

    def run(self: Any, original: Run, format_name: str) -> Destination | None:
        found: Destination | None = original(format_name)
        if not isinstance(parse_format_name(format_name), kinds) or found is None:
            return found
        first: Destination = self.__dict__.setdefault("first_destination", found)
        return first

    return change_step(NextHops.get_destination_info, run)


def _find_no_destination_for_some_format_names(condition: Callable[[str, Any], bool]) -> Install:
    """Return an installer of a fault that finds no destination for selected format names."""

    def run(self: Any, original: Run, format_name: str) -> Destination | None:
        return None if condition(format_name, parse_format_name(format_name)) else original(format_name)

    return change_step(NextHops.get_destination_info, run)


def _set_server_guid(choose: Callable[[Any, Session], UUID | None]) -> Install:
    """Return an installer of a fault that changes ServerGuid of requests to direct format names."""

    def run(self: Any, original: Run, session: Session, now: Now) -> EstablishConnectionPacket:
        packet: EstablishConnectionPacket = original(session, now)
        guid = choose(self, session) if session.is_destination_direct else None
        if guid is None:
            return packet
        return replace(packet, EstablishConnectionHeader=replace(packet.EstablishConnectionHeader, ServerGuid=guid))

    return change_step(SessionEstablishing.build_establish_request, run)


def _get_own_guid_for_host_name(self: Any, session: Session) -> UUID | None:
    name = session.OutgoingQueueReference.DestinationFormatName if session.OutgoingQueueReference else ""
    return self.qm.adm.Identifier if name.upper().startswith("DIRECT=OS:") else None


def _get_own_guid_for_repeated_request(self: Any, session: Session) -> UUID | None:
    seen = self.__dict__.setdefault("requested_sessions", set())
    if session.number in seen:
        return UUID(str(self.qm.adm.Identifier))
    seen.add(session.number)
    return None


@fault("initiator-unknown-queue-manager-has-host-of-last-destination", breaks="MQQB-3.1.7.4-15", blind=True)
class InitiatorUnknownQueueManagerHasHostOfLastDestination(NextHops):
    """The initiator uses the host of the previous destination for a private format name with an unknown GUID."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        found = super().get_next_hops(guid)
        if found:
            self.__dict__["previous_hops"] = found
        return found or self.__dict__.get("previous_hops", ())


@fault("initiator-private-name-resolved-by-host-of-direct-name", breaks="MQQB-3.1.7.4-15", blind=True)
class InitiatorPrivateNameResolvedByHostOfDirectName(SessionAddressResolving):
    """The initiator uses the address of its last direct destination for a private format name."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        if session.is_destination_direct:
            self.__dict__["direct_addresses"] = next(iter(session.addresses.values()))
        elif "direct_addresses" in self.__dict__:
            session.addresses = dict.fromkeys(session.addresses, self.__dict__["direct_addresses"])
        super().connect_to_resolved_addresses(session, now)


def _cut_host_name(self: Any, original: Run, format_name: str) -> Destination | None:
    found: Destination | None = original(format_name)
    name = parse_format_name(format_name)
    if found is None or not isinstance(name, _DIRECT_PATH_TYPES) or name.Protocol != "OS":
        return found
    return Destination(found.HostName.partition(".")[0], NULL_GUID)


def _has_upper_case_guid(format_name: str, name: Any) -> bool:
    guid = format_name.partition("=")[2].partition("\\")[0]
    return guid != guid.lower()


for _name, _rule, _says, _install in (
    (
        "initiator-second-direct-name-has-host-of-first",
        "MQQB-3.1.7.4-03",
        "The initiator uses the host of its first direct format name for each later direct format name.",
        _reuse_first_destination(_DIRECT_PATH_TYPES),
    ),
    (
        "initiator-direct-name-host-cut-at-dot",
        "MQQB-3.1.7.4-03",
        "The initiator uses only the first label of the host name in a direct format name.",
        change_step(NextHops.get_destination_info, _cut_host_name),
    ),
    (
        "initiator-direct-name-of-public-queue-without-destination",
        "MQQB-3.1.7.4-03",
        "The initiator finds no destination for a direct format name of a public queue.",
        _find_no_destination_for_some_format_names(lambda text, name: isinstance(name, PublicQueuePath)),
    ),
    (
        "initiator-direct-name-of-host-with-own-guid",
        "MQQB-3.1.7.4-05",
        "The initiator uses its own GUID for a direct format name with a host name.",
        _set_server_guid(_get_own_guid_for_host_name),
    ),
    (
        "initiator-direct-name-with-own-guid-at-second-session",
        "MQQB-3.1.7.4-05",
        "The initiator uses its own GUID when it opens a second session for the same direct format name.",
        _set_server_guid(_get_own_guid_for_repeated_request),
    ),
    (
        "initiator-public-name-in-upper-case-not-looked-up",
        "MQQB-3.1.7.4-06",
        "The initiator does not look up a public format name whose GUID has upper-case digits.",
        _find_no_destination_for_some_format_names(
            lambda text, name: isinstance(name, PublicName) and _has_upper_case_guid(text, name)
        ),
    ),
    (
        "initiator-second-private-name-has-guid-of-first",
        "MQQB-3.1.7.4-14",
        "The initiator uses the GUID of its first private format name for each later private format name.",
        _reuse_first_destination(PrivateName),
    ),
    (
        "initiator-private-name-in-upper-case-without-destination",
        "MQQB-3.1.7.4-14",
        "The initiator finds no queue manager for a private format name whose GUID has upper-case digits.",
        _find_no_destination_for_some_format_names(
            lambda text, name: isinstance(name, PrivateName) and _has_upper_case_guid(text, name)
        ),
    ),
    (
        "initiator-private-name-with-high-queue-number-without-destination",
        "MQQB-3.1.7.4-14",
        "The initiator finds no queue manager for a private format name whose queue number is above 0xFFFF.",
        _find_no_destination_for_some_format_names(
            lambda text, name: isinstance(name, PrivateName) and name.QueueIdentifier > 0xFFFF
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
