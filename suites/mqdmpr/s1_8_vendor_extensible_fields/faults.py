"""Faults of other sections that break rules of MS-MQDMPR 1.8 Vendor-Extensible Fields."""

BROKEN_ELSEWHERE = {
    "MQDMPR-1.8-D01": ("remote-failures-of-nobody",),
}
