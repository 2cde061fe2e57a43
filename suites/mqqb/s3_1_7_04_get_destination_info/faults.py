"""Faults of MS-MQQB 3.1.7.4 Get Destination Info."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import field_is
from harness.faults.made_up import ELSEWHERE, OTHER_GUID
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

_DIRECT = (PrivateQueuePath, PublicQueuePath)
_LEADS_ELSEWHERE = Destination(ELSEWHERE, NULL_GUID)


def _leads(kinds: type | tuple[type, ...], change: Callable[[Destination | None], Destination | None]) -> Install:
    """Let format names of some kinds lead to something else."""

    class Leads(NextHops):
        def get_destination_info(self, format_name: str) -> Destination | None:
            found = super().get_destination_info(format_name)
            return change(found) if isinstance(parse_format_name(format_name), kinds) else found

    return replace_part(Leads)


# -- direct names --------------------------------------------------------------------------------------------------

add(
    "destination-direct-unknown",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-17"),
    "A direct name leads nowhere.",
    _leads(_DIRECT, lambda found: None),
)
add(
    "destination-direct-elsewhere",
    "MQQB-3.1.7.4-04",
    "A direct name leads to another host.",
    _leads(_DIRECT, lambda found: _LEADS_ELSEWHERE),
)
add(
    "destination-direct-by-guid",
    "MQQB-3.1.7.4-05",
    "For a direct name a queue manager is asked for.",
    field_is(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        OTHER_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid == NULL_GUID,
    ),
)

# -- public names --------------------------------------------------------------------------------------------------

add(
    "destination-public-unknown",
    (
        *("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-06", "MQQB-3.1.7.4-17"),
        *("MQDMPR-3.1.7.1.5-64", "MQDMPR-3.1.7.1.5-65", "MQDMPR-3.1.7.1.5-68"),
        *("MQDMPR-3.1.7.1.5-86", "MQDMPR-3.1.7.1.5-87", "MQDMPR-3.1.7.1.5-90"),
    ),
    "A public name leads nowhere.",
    _leads(PublicName, lambda found: None),
)


@fault(
    "destination-public-any",
    breaks=(
        *("MQQB-3.1.7.4-07", "MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11"),
        *("MQDMPR-3.1.7.1.5-70", "MQDMPR-3.1.7.1.5-94"),
    ),
)
class AnyPublicQueue(NextHops):
    """A public name leads where any other does."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        anywhere = Destination(next(iter(self.qm.config.routes.values()), ""), NULL_GUID)
        return super().get_destination_info(format_name) or anywhere


add(
    "destination-public-elsewhere",
    ("MQQB-3.1.7.4-12", "MQDMPR-3.1.7.1.5-71"),
    "The host of a public queue is another.",
    _leads(PublicName, lambda found: _LEADS_ELSEWHERE),
)
add(
    "destination-public-by-host",
    "MQQB-3.1.7.4-13",
    "For a public name nobody is asked for.",
    _leads(PublicName, lambda found: found and Destination("127.0.0.2", NULL_GUID)),
)

# -- private names -------------------------------------------------------------------------------------------------

add(
    "destination-private-unknown",
    ("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-17"),
    "A private name leads nowhere.",
    _leads(PrivateName, lambda found: None),
)
add(
    "destination-private-by-host",
    ("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15"),
    "A private name has a host.",
    _leads(PrivateName, lambda found: _LEADS_ELSEWHERE),
)
add(
    "destination-private-other-guid",
    "MQQB-3.1.7.4-16",
    "For a private name another queue manager is asked for.",
    field_is(
        EstablishConnectionPacket,
        "EstablishConnectionHeader.ServerGuid",
        OTHER_GUID,
        lambda packet: packet.EstablishConnectionHeader.ServerGuid != NULL_GUID,
    ),
)
