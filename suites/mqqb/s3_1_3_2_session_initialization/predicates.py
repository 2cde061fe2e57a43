"""Judge the initial values that a new session shows in packets. Spec: MS-MQQB 3.1.3.2."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive


@passive("MQQB-3.1.3.2-24", "ConnectionParameters", "WindowSize is 64")
def window_size(packet: Any, context: Context) -> Finding:
    """Demand WindowSize 64 of the SUT, as initiator and as acceptor."""
    size = packet.ConnectionParametersHeader.WindowSize
    return size == 64, f"WindowSize is {size}"
