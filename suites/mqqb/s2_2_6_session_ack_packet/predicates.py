"""Judge the layout of SessionAck packets. Spec: MS-MQQB 2.2.6."""

from __future__ import annotations

from suites.mqqb.steps.layouts import register_layout

register_layout("MQQB-2.2.6-D01", "SessionAck", "SessionHeader", 16)
