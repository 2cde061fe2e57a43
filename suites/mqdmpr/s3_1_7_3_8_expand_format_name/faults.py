"""Faults of other sections that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.3.8-15": ("open-unknown-list-is-empty",),
}
