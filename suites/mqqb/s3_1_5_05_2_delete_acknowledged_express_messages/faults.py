"""Faults of MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages: all lie with other sections."""

BROKEN_ELSEWHERE = {
    "MQQB-3.1.5.5.2-01": (
        "acknowledgment-forgets-every-express-message",
        "last-acknowledged-express-message-kept",
        "recoverable-message-deleted-as-express",
    ),
}
"""Faults of other sections that break rules of this one."""
