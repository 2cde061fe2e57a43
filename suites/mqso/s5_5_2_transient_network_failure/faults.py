"""Faults of other sections that break rules of MS-MQSO 5.5.2 Transient Network Failure."""

BROKEN_ELSEWHERE = {
    "MQSO-5.5.2-D01": ("messages-left-when-the-network-was-away",),
}
