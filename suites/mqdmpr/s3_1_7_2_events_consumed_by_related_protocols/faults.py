"""Faults of other sections that break rules of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.2-01": (),
    "MQDMPR-3.1.7.2.1-04": ("cursor-slips-on",),
    "MQDMPR-3.1.7.2.1-05": (),
    "MQDMPR-3.1.7.2.2-04": (),
    "MQDMPR-3.1.7.2.2-11": ("waiting-receives-share",),
    "MQDMPR-3.1.7.2.2-12": (),
    "MQDMPR-3.1.7.2.3-03": (
        "pause-does-nothing",
        "pause-queue-still-connected",
    ),
    "MQDMPR-3.1.7.2.4-03": ("resumed-queue-stays-on-hold",),
}
