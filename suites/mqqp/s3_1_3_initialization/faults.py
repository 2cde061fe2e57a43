"""Faults of MS-MQQP 3.1.3 Initialization."""

BROKEN_ELSEWHERE = {
    "MQQP-3.1.3-01": ("remote-port-wrong",),
}
"""By rule of this section: the faults of other sections that break it."""
