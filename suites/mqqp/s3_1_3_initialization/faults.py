"""Faults of MS-MQQP 3.1.3 Initialization."""

BROKEN_ELSEWHERE = {
    "MQQP-3.1.3-01": ("remote-port-wrong", "remote-ports-swapped"),
}
"""Faults of other sections that break rules of this one."""
