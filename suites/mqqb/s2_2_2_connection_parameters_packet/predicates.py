"""Judge ConnectionParameters packets: their layout, and the timeouts of an initiator. Spec: MS-MQQB 2.2.2, 2.2.2.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, Predicate, passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_PACKET_NAMES,
    PARAMETERS_PACKET_KIND,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.layouts import register_layout_predicate

LONGEST_TIMEOUT_MS = 0x0001_D4C0

register_layout_predicate("MQQB-2.2.2-D01", "ConnectionParameters", "ConnectionParametersPacket", 32)
register_layout_predicate("MQQB-2.2.2.1-D01", "ConnectionParameters", "ConnectionParametersHeader", 12)


def _make_timeout_predicate(field: str, shortest_ms: int) -> Predicate:
    """Return a predicate that checks a timeout of an initiator. An acceptor repeats the timeout of the initiator, so
    the predicate does not judge an acceptor.
    """

    def judge_timeout(packet: Any, context: Context) -> Finding:
        if context.sut_role != "initiator":
            return None
        value = getattr(packet.ConnectionParametersHeader, field)
        return shortest_ms <= value <= LONGEST_TIMEOUT_MS, f"{field} is {value}"

    return judge_timeout


for rule, field, shortest_ms in (
    ("MQQB-2.2.2.1-D02", "RecoverableAckTimeout", 0x0000_01F4),
    ("MQQB-2.2.2.1-D03", "AckTimeout", 0x0000_4E20),
):
    passive(rule, "ConnectionParameters", f"{field} is at least {shortest_ms} and at most {LONGEST_TIMEOUT_MS}")(
        _make_timeout_predicate(field, shortest_ms)
    )

passive("MQQB-2.2.2-01", INTERNAL_PACKET_NAMES, "IN is 1 in a ConnectionParameters packet", of_system=True)(
    make_flags_predicate_for_kind(PARAMETERS_PACKET_KIND)
)
passive("MQQB-2.2.2-02", INTERNAL_PACKET_NAMES, "PT is 3 in a ConnectionParameters packet", of_system=True)(
    make_packet_type_predicate_for_kind(PARAMETERS_PACKET_KIND)
)
