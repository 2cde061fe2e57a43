"""Faults of other sections that break rules of MS-MQSO 6.4 Timers and its sections."""

BROKEN_ELSEWHERE = {
    "MQSO-6.4.3.1-D01": (
        "certificate-cleanup-does-nothing",
        "certificate-cleanup-keeps-all",
    ),
    "MQSO-6.4.3.1-D02": ("certificate-cleanup-by-the-youngest",),
    "MQSO-6.4.4.1-01": ("so-no-second-attempt-to-start",),
    "MQSO-6.4.4.1-D01": ("so-no-second-attempt-to-start",),
}
