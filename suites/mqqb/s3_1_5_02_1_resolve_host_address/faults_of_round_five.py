"""Blind violations of round five: MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _return_destination_of_private_queue(
    original: Callable[..., Any], qm: QM, session: Session, now: Now
) -> Callable[..., Any]:
    def get_next_hop_identifiers(qm: QM, guid: UUID) -> Any:
        private = isinstance(parse_format_name(get_outgoing_queue(session).DestinationFormatName), PrivateName)
        return (guid,) if private else original(qm, guid)

    return get_next_hop_identifiers


add(
    "initiator-next-hop-of-private-queue-is-destination",
    "MQQB-3.1.5.2.1-15",
    "For a private format name, the initiator connects to the destination itself, even if the next hop of the route is "
    "another queue manager.",
    replace_method_during(
        SessionAddressResolving.resolve_host_address,
        NextHops.get_next_hop_identifiers,
        _return_destination_of_private_queue,
    ),
    blind=True,
)
