"""What a new session shows of its initial values in packets."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive


@passive("MQQB-3.1.3.2-24", "ConnectionParameters", "WindowSize is 64")
def window_size(packet: Any, context: Context) -> Finding:
    """The SUT's own WindowSize, as initiator and as acceptor."""
    size = packet.ConnectionParametersHeader.WindowSize
    return size == 64, f"WindowSize is {size}"
