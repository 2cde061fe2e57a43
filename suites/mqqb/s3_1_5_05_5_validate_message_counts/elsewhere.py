"""Checks of other sections that judge rules of MS-MQQB 3.1.5.5.5 Validate Message Counts."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.5.5-02": ("test_session_whose_messages_are_not_acknowledged_is_closed",),
}
