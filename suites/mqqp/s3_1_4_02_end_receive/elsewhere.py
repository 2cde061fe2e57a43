"""Checks of other sections that judge rules of MS-MQQP 3.1.4.2 RemoteQMEndReceive (Opnum 1)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.2-05": ("test_a_call_needs_a_binding",),
}
