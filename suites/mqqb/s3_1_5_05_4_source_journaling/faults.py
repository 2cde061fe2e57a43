"""Faults of MS-MQQB 3.1.5.5.4 Source Journaling: all lie with other sections."""

BROKEN_ELSEWHERE = {
    "MQQB-3.1.5.5.4-01": (
        "acknowledged-messages-not-journaled",
        "journaled-before-disk",
        "journaled-without-body",
        "message-with-both-journals-not-in-the-journal",
    ),
}
"""Faults of other sections that break rules of this one."""
