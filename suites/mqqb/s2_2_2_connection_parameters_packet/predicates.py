"""Judge the layout of ConnectionParameters packets. Spec: MS-MQQB 2.2.2, 2.2.2.1."""

from __future__ import annotations

from suites.mqqb.steps.layouts import laid_out

laid_out("MQQB-2.2.2-D01", "ConnectionParameters", "ConnectionParametersPacket", 32)
laid_out("MQQB-2.2.2.1-D01", "ConnectionParameters", "ConnectionParametersHeader", 12)
