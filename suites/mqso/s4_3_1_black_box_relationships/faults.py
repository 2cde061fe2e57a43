"""Faults of other sections that break rules of MS-MQSO 4.3.1 Black Box Relationship Diagram."""

BROKEN_ELSEWHERE = {
    "MQSO-4.3.1.3-03": (
        "gates-of-no-site",
        "topology-not-read",
    ),
    "MQSO-4.3.1.3-D02": (
        "gates-of-no-site",
        "topology-not-read",
    ),
}
