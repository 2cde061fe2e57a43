"""Faults that break rules of MS-MQQB 3.1.7.4 Get Destination Info."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.fields import set_field_value
from harness.faults.made_up import MADE_UP_GUID, UNUSED_ADDRESS
from harness.faults.parts import fault, replace_part
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
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_address_resolving import is_ip_address_text

_DIRECT_PATH_TYPES = (PrivateQueuePath, PublicQueuePath)


def _redirect_format_names(
    kinds: type | tuple[type, ...], change: Callable[[Destination | None], Destination | None]
) -> Install:
    """Make the initiator find a wrong destination for format names of the given kinds."""

    class DestinationRedirected(NextHops):
        def get_destination_info(self, format_name: str) -> Destination | None:
            found = super().get_destination_info(format_name)
            return change(found) if isinstance(parse_format_name(format_name), kinds) else found

    return replace_part(DestinationRedirected)


add(
    "initiator-direct-name-without-destination",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-17"),
    "The initiator finds no destination for a direct format name.",
    _redirect_format_names(_DIRECT_PATH_TYPES, lambda found: None),
)


add(
    "initiator-public-name-without-destination",
    (
        *("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-06", "MQQB-3.1.7.4-17"),
        *("MQDMPR-3.1.7.1.5-64", "MQDMPR-3.1.7.1.5-65", "MQDMPR-3.1.7.1.5-68"),
        *("MQDMPR-3.1.7.1.5-86", "MQDMPR-3.1.7.1.5-87", "MQDMPR-3.1.7.1.5-90"),
    ),
    "The initiator finds no destination for a public format name.",
    _redirect_format_names(PublicName, lambda found: None),
)


add(
    "initiator-private-name-without-destination",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-17"),
    "The initiator finds no destination for a private format name.",
    _redirect_format_names(PrivateName, lambda found: None),
)


_UNUSED_DESTINATION = Destination(UNUSED_ADDRESS, NULL_GUID)


add(
    "initiator-direct-name-wrong-host",
    "MQQB-3.1.7.4-04",
    "The initiator connects to a host other than that in the direct format name.",
    _redirect_format_names(_DIRECT_PATH_TYPES, lambda found: _UNUSED_DESTINATION),
)


@fault("initiator-direct-name-host-without-domain", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorDirectNameHostWithoutDomain(NextHops):
    """The initiator uses only the part before the first dot of the host name in a direct format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or found.QueueManagerGuid != NULL_GUID or is_ip_address_text(found.HostName):
            return found
        return replace(found, HostName=found.HostName.partition(".")[0])


class _DestinationRecorder(NextHops):
    """Remember the destinations of earlier format names."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: dict[str, Destination] = {}

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = self.find_destination(format_name)
        if found is not None:
            self.known.setdefault(format_name, found)
        return found

    def find_destination(self, format_name: str) -> Destination | None:
        return super().get_destination_info(format_name)


@fault("initiator-host-of-first-direct-name-used-for-later-names", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorHostOfFirstDirectNameUsedForLaterNames(_DestinationRecorder):
    """The initiator uses the host of the first direct format name for direct names of the same queue on other hosts."""

    def find_destination(self, format_name: str) -> Destination | None:
        queue = format_name.partition("\\")[2].lower()
        for known, found in self.known.items():
            if queue and known.partition("\\")[2].lower() == queue:
                return found
        return super().find_destination(format_name)


add(
    "initiator-direct-name-server-guid-set",
    "MQQB-3.1.7.4-05",
    "The initiator sets ServerGuid to the GUID of a queue manager for a direct format name.",
    set_field_value(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        MADE_UP_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid == NULL_GUID,
    ),
)


@fault(
    "initiator-connects-to-any-queue-manager-for-unknown-public-name",
    breaks=(
        *("MQQB-3.1.7.4-07", "MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11"),
        *("MQDMPR-3.1.7.1.5-70", "MQDMPR-3.1.7.1.5-94"),
    ),
)
class InitiatorConnectsToAnyQueueManagerForUnknownPublicName(NextHops):
    """The initiator connects to an arbitrary queue manager for an unknown public format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        anywhere = Destination(next(iter(self.qm.config.routes.values()), ""), NULL_GUID)
        return super().get_destination_info(format_name) or anywhere


@fault("initiator-unknown-public-queue-never-looked-up-again", breaks="MQQB-3.1.7.4-08", blind=True)
class InitiatorUnknownPublicQueueNeverLookedUpAgain(NextHops):
    """If the initiator does not find a public queue in the directory at its first attempt, it never reads this queue
    from the directory again.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.unknown: set[str] = set()

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = None if format_name in self.unknown else super().get_destination_info(format_name)
        if found is None:
            self.unknown.add(format_name)
        return found


@fault("initiator-unknown-public-name-resolved-to-earlier-queue-manager", breaks="MQQB-3.1.7.4-11", blind=True)
class InitiatorUnknownPublicNameResolvedToEarlierQueueManager(_DestinationRecorder):
    """The initiator sends a message for an unknown public queue to the queue manager of an earlier public queue."""

    def find_destination(self, format_name: str) -> Destination | None:
        found = super().find_destination(format_name)
        if found is None and isinstance(parse_format_name(format_name), PublicName):
            for known, earlier in self.known.items():
                if isinstance(parse_format_name(known), PublicName):
                    return earlier
        return found


add(
    "initiator-public-name-wrong-host",
    ("MQQB-3.1.7.4-12", "MQDMPR-3.1.7.1.5-71"),
    "The initiator connects to a host other than the owner of the public queue.",
    _redirect_format_names(PublicName, lambda found: _UNUSED_DESTINATION),
)


add(
    "initiator-public-name-server-guid-null",
    "MQQB-3.1.7.4-13",
    "The initiator sets ServerGuid to a null GUID for a public format name.",
    _redirect_format_names(PublicName, lambda found: found and Destination("127.0.0.2", NULL_GUID)),
)


@fault("initiator-queue-manager-of-first-public-name-used-for-all", breaks="MQQB-3.1.7.4-13", blind=True)
class InitiatorQueueManagerOfFirstPublicNameUsedForAll(_DestinationRecorder):
    """The initiator uses the queue manager of the first public format name for every public format name."""

    def find_destination(self, format_name: str) -> Destination | None:
        if isinstance(parse_format_name(format_name), PublicName):
            for known, found in self.known.items():
                if isinstance(parse_format_name(known), PublicName):
                    return found
        return super().find_destination(format_name)


add(
    "initiator-private-name-wrong-host",
    ("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15"),
    "The initiator uses a wrong host for a private format name instead of the queue manager's host.",
    _redirect_format_names(PrivateName, lambda found: _UNUSED_DESTINATION),
)


add(
    "initiator-private-name-server-guid-wrong",
    "MQQB-3.1.7.4-16",
    "The initiator sets ServerGuid to a GUID other than that in the private format name.",
    set_field_value(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        MADE_UP_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid != NULL_GUID,
    ),
)


@fault("initiator-private-name-resolved-by-queue-number-only", breaks="MQQB-3.1.7.4-16", blind=True)
class InitiatorPrivateNameResolvedByQueueNumberOnly(_DestinationRecorder):
    """For a private format name, the initiator uses the queue manager of an earlier private format name
    with the same queue number.
    """

    def find_destination(self, format_name: str) -> Destination | None:
        name = parse_format_name(format_name)
        if isinstance(name, PrivateName):
            for known, found in self.known.items():
                earlier = parse_format_name(known)
                if isinstance(earlier, PrivateName) and earlier.QueueIdentifier == name.QueueIdentifier:
                    return found
        return super().find_destination(format_name)


@fault("initiator-private-format-name-computer-guid-cached-by-queue-number", breaks="MQQB-3.1.7.4-16", blind=True)
class InitiatorPrivateFormatNameComputerGuidCachedByQueueNumber(NextHops):
    """The initiator uses the ComputerGuid of the first private format name with a queue number also for private format
    names of other queue managers with the same queue number.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: dict[int, Destination] = {}

    def get_destination_info(self, format_name: str) -> Destination | None:
        found, name = super().get_destination_info(format_name), parse_format_name(format_name)
        if found is not None and isinstance(name, PrivateName):
            return self.known.setdefault(name.QueueIdentifier, found)
        return found
