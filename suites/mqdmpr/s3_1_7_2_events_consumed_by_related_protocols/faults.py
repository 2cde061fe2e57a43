"""Faults of other sections that break rules of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.2.3-03": (
        "pause-does-nothing",
        "pause-queue-still-connected",
    ),
    "MQDMPR-3.1.7.2.4-03": ("resumed-queue-stays-on-hold",),
}
