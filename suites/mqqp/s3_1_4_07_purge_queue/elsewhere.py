"""Checks of other sections that judge rules of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue (Opnum 6)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.7-01": ("test_before_it_nothing_can_be_done",),
    "MQQP-3.1.4.7-02": ("test_a_call_needs_a_binding",),
}
