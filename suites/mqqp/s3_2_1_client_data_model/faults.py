"""Faults of MS-MQQP 3.2.1 Client data model, with 3.2.1.2, 3.2.1.4."""

BROKEN_ELSEWHERE = {
    "MQQP-3.2.1.2-01": ("remote-read-not-pending",),
    "MQQP-3.2.1.4-01": ("remote-open-no-entry",),
}
"""Faults of other sections that break rules of this one."""
