"""Faults of other sections that break rules of MS-MQSO 5.1.2 Directory Abstract Data Model."""

BROKEN_ELSEWHERE = {
    "MQSO-5.1.2-01": ("routing-past-the-router",),
}
