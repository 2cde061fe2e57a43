"""Judge the layout of SessionAck packets. Spec: MS-MQQB 2.2.6."""

from __future__ import annotations

from suites.mqqb.steps.layouts import laid_out

laid_out("MQQB-2.2.6-D01", "SessionAck", "SessionHeader", 16)
