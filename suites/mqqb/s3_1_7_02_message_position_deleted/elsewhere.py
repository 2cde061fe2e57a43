"""Checks of other sections that judge rules of MS-MQQB 3.1.7.2 Message Position Deleted."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.2.1-01": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
    "MQQB-3.1.7.2.1-02": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
    "MQQB-3.1.7.2.1-03": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
    "MQQB-3.1.7.2.1-D02": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
    "MQQB-3.1.7.2.1-D04": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
}
