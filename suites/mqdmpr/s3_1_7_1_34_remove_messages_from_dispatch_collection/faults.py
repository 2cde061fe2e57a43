"""Faults of other sections that break rules of MS-MQDMPR 3.1.7.1.34."""

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.1.34-03": (
        "pause-does-nothing",
        "pause-queue-still-connected",
    ),
}
