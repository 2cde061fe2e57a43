"""Faults of ConnectionHistory while a session is opened. Spec: MS-MQQB 3.1.5.2 to 3.1.5.4."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, procedure
from harness.faults.registry import Install, add
from reference_qm.core.protocol.establishing import Establishing, outgoing_queue
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

Original = Callable[..., Any]

PROGRESS = {ConnectionStatus.IN_PROCESS, ConnectionStatus.ESTABLISH_PACKET_RECEIVED, ConnectionStatus.ESTABLISHED}
FAILURES = set(ConnectionStatus) - PROGRESS


def _unnoted(left_out: Container[ConnectionStatus]) -> Install:
    """Leave out the entries of some Status."""

    def make(original: Original) -> Original:
        def append(qm: QueueManager, session: Session, status: ConnectionStatus, now: Now) -> None:
            if status not in left_out:
                original(qm, session, status, now)

        return append

    return procedure(Establishing.add_connection_history, make)


def _noted(changed: Container[ConnectionStatus], **changes: Any) -> Install:
    """Change the entries of some Status."""

    def spoil(qm: QueueManager, session: Session, status: ConnectionStatus, now: Now) -> None:
        entries = outgoing_queue(session).ConnectionHistory
        if status in changed:
            entries[-1] = replace(entries[-1], **changes)

    return afterwards(Establishing.add_connection_history, spoil)


add(
    "history-without-failures",
    "MQQB-3.1.5.2-01",
    "A failed attempt leaves no entry.",
    _unnoted(FAILURES),
)
add(
    "history-failure-misnamed",
    "MQQB-3.1.5.2-02",
    "Every failure that has a name is called PingFailure.",
    _noted(FAILURES - {ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.PING_FAILURE),
)
add(
    "history-unknown-failure-named",
    "MQQB-3.1.5.2-03",
    "A failure without a name is called DnsFailure.",
    _noted({ConnectionStatus.UNKNOWN_FAILURE}, Status=ConnectionStatus.DNS_FAILURE),
)
for _name, _element, _value in (
    ("without-time", "ConnectionHistoryTime", 0),
    ("without-error", "Error", 0),
    ("without-address", "AddressList", ""),
):
    add(
        f"history-failure-{_name}",
        "MQQB-3.1.5.2-04",
        f"{_element} of a failure's entry is {_value!r}.",
        _noted(FAILURES, **{_element: _value}),
    )
for _status, _rule in (
    (ConnectionStatus.IN_PROCESS, "3.1.5.2.3-14"),
    (ConnectionStatus.ESTABLISH_PACKET_RECEIVED, "3.1.5.3.2-15"),
    (ConnectionStatus.ESTABLISHED, "3.1.5.4.2-08"),
):
    add(
        f"history-without-{_status.value.lower()}",
        f"MQQB-{_rule}",
        f"ConnectionHistory gets no entry {_status.value}.",
        _unnoted({_status}),
    )
    add(
        f"history-{_status.value.lower()}-with-error",
        f"MQQB-{_rule}",
        f"The entry {_status.value} has an Error.",
        _noted({_status}, Error=0x80004005),
    )
