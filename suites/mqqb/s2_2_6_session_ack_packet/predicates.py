"""Judge the layout of SessionAck packets. Spec: MS-MQQB 2.2.6."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_PACKET_NAMES,
    SESSION_ACK_PACKET_KIND,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.layouts import register_layout_predicate

register_layout_predicate("MQQB-2.2.6-D01", "SessionAck", "SessionHeader", 16)

passive("MQQB-2.2.6-01", INTERNAL_PACKET_NAMES, "IN and SH are 1 in a SessionAck packet", of_system=True)(
    make_flags_predicate_for_kind(SESSION_ACK_PACKET_KIND)
)
passive("MQQB-2.2.6-02", INTERNAL_PACKET_NAMES, "PT is 1 in a SessionAck packet", of_system=True)(
    make_packet_type_predicate_for_kind(SESSION_ACK_PACKET_KIND)
)
