"""Faults of other sections that break rules of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.3.9-04": (
        "dispatched-as-added",
        "dispatched-lowest-first",
        "dispatched-when-expired",
    ),
    "MQDMPR-3.1.7.3.9-06": ("dispatched-twice",),
    "MQDMPR-3.1.7.3.9-07": ("dispatched-as-another-message",),
}
