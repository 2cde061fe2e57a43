"""Checks of other sections that judge rules of MS-MQQP 3.1.4.5 RemoteQMCloseCursor (Opnum 4)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.5-02": ("test_a_call_needs_a_binding",),
}
