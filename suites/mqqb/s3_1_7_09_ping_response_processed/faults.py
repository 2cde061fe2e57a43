"""Faults of MS-MQQB 3.1.7.9 Ping Response Processed: all lie with other sections."""

BROKEN_ELSEWHERE = {
    "MQQB-3.1.7.9-01": ("ping-response-not-processed", "ping-response-refusal-overlooked"),
}
"""Faults of other sections that break rules of this one."""
