"""Define made-up values that faults put into packets. No queue manager in a test uses these values."""

from __future__ import annotations

from uuid import UUID

UNUSED_ADDRESS = "127.0.0.99"
"""An address at which no program listens."""
MADE_UP_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
