"""Judge the layout of SessionAck packets. Spec: MS-MQQB 2.2.6."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_KINDS,
    SESSION_ACK_PACKET_KIND,
    make_flags_of_kind_predicate,
    make_pt_of_kind_predicate,
)
from suites.mqqb.steps.layouts import register_layout_predicate

register_layout_predicate("MQQB-2.2.6-D01", "SessionAck", "SessionHeader", 16)

passive("MQQB-2.2.6-01", INTERNAL_KINDS, "IN and SH are 1 in a SessionAck packet", of_system=True)(
    make_flags_of_kind_predicate(SESSION_ACK_PACKET_KIND)
)
passive("MQQB-2.2.6-02", INTERNAL_KINDS, "PT is 1 in a SessionAck packet", of_system=True)(
    make_pt_of_kind_predicate(SESSION_ACK_PACKET_KIND)
)
