"""Faults of MS-MQQB 3.1.7.4 Get Destination Info."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import field_is
from harness.faults.made_up import OTHER_GUID, UNUSED_ADDRESS
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

_DIRECT_PATH_TYPES = (PrivateQueuePath, PublicQueuePath)
_LEADS_ELSEWHERE = Destination(UNUSED_ADDRESS, NULL_GUID)


def _redirect_format_names(
    kinds: type | tuple[type, ...], change: Callable[[Destination | None], Destination | None]
) -> Install:
    """Make the initiator find a wrong destination for format names of some kinds."""

    class DestinationRedirected(NextHops):
        def get_destination_info(self, format_name: str) -> Destination | None:
            found = super().get_destination_info(format_name)
            return change(found) if isinstance(parse_format_name(format_name), kinds) else found

    return replace_part(DestinationRedirected)


# -- direct names --------------------------------------------------------------------------------------------------

add(
    "initiator-direct-name-without-destination",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-17"),
    "The initiator finds no destination for a direct format name.",
    _redirect_format_names(_DIRECT_PATH_TYPES, lambda found: None),
)
add(
    "initiator-direct-name-wrong-host",
    "MQQB-3.1.7.4-04",
    "The initiator connects to a host other than that in the direct format name.",
    _redirect_format_names(_DIRECT_PATH_TYPES, lambda found: _LEADS_ELSEWHERE),
)
add(
    "initiator-direct-name-server-guid-set",
    "MQQB-3.1.7.4-05",
    "The initiator sets ServerGuid to the GUID of a queue manager for a direct format name.",
    field_is(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        OTHER_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid == NULL_GUID,
    ),
)

# -- public names --------------------------------------------------------------------------------------------------

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


@fault(
    "initiator-unknown-public-name-with-destination",
    breaks=(
        *("MQQB-3.1.7.4-07", "MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11"),
        *("MQDMPR-3.1.7.1.5-70", "MQDMPR-3.1.7.1.5-94"),
    ),
)
class InitiatorUnknownPublicNameWithDestination(NextHops):
    """The initiator connects to an arbitrary queue manager for an unknown public format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        anywhere = Destination(next(iter(self.qm.config.routes.values()), ""), NULL_GUID)
        return super().get_destination_info(format_name) or anywhere


add(
    "initiator-public-name-wrong-host",
    ("MQQB-3.1.7.4-12", "MQDMPR-3.1.7.1.5-71"),
    "The initiator connects to a host other than the owner of the public queue.",
    _redirect_format_names(PublicName, lambda found: _LEADS_ELSEWHERE),
)
add(
    "initiator-public-name-server-guid-null",
    "MQQB-3.1.7.4-13",
    "The initiator sets ServerGuid to a null GUID for a public format name.",
    _redirect_format_names(PublicName, lambda found: found and Destination("127.0.0.2", NULL_GUID)),
)

# -- private names -------------------------------------------------------------------------------------------------

add(
    "initiator-private-name-without-destination",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-17"),
    "The initiator finds no destination for a private format name.",
    _redirect_format_names(PrivateName, lambda found: None),
)
add(
    "initiator-private-name-wrong-host",
    ("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15"),
    "The initiator uses a wrong host for a private format name instead of the queue manager's host.",
    _redirect_format_names(PrivateName, lambda found: _LEADS_ELSEWHERE),
)
add(
    "initiator-private-name-server-guid-wrong",
    "MQQB-3.1.7.4-16",
    "The initiator sets ServerGuid to a GUID other than that in the private format name.",
    field_is(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        OTHER_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid != NULL_GUID,
    ),
)
