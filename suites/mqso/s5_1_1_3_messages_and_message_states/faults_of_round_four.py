"""Faults that break rules of MS-MQSO 5.1.1.3 for repeated attempts to send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.directory import QueueManager


def _make_lookup_that_skips_next_hops_in_retries(
    original: Callable[..., Any], qm: Any, session: Any, now: Any
) -> Callable[..., Any]:
    def get_next_hops(qm: Any, guid: UUID) -> tuple[QueueManager, ...]:
        destination = qm.enterprise.find_queue_manager("Identifier", guid) if session.is_retrying_connection else None
        hops: tuple[QueueManager, ...] = original(qm, guid) if destination is None else (destination,)
        return hops

    return get_next_hops


add(
    "sender-next-hop-of-retry-destination-itself",
    "MQSO-5.1.1.3-D03",
    "The sender connects directly to the destination instead of the next hop on the route, after an attempt to connect "
    "to the next hop has failed.",
    replace_method_during(
        SessionAddressResolving.resolve_host_address,
        NextHops.get_next_hops,
        _make_lookup_that_skips_next_hops_in_retries,
    ),
    blind=True,
)
