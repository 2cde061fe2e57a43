"""The attributes that every OrderAck and FinalAck has. Spec: MS-MQQB 3.1.7.17."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame

FINAL_ACK_ATTRIBUTES = dict.fromkeys(("PR", "TR", "JN", "JP", "AQ", "RQ", "SH", "TH", "Flags", "BodyType"), 0)
"""The attributes whose value is 0 in every OrderAck and FinalAck."""


def get_attributes_of_acknowledgment(frame: Frame) -> dict[str, Any]:
    """Return the attributes of an acknowledgment by name."""
    base, user, properties = frame["BaseHeader"], frame["UserHeader"], frame["MessagePropertiesHeader"]
    return {
        "PR": base.PR,
        "TR": base.TR,
        **{name: getattr(user, name) for name in ("DM", "JN", "JP", "AQ", "RQ", "SH", "TH")},
        "Flags": properties.Flags,
        "BodyType": properties.BodyType,
        "Label": str(properties.Label).rstrip("\0"),
    }
