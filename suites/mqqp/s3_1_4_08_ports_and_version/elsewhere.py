"""Checks of other sections that judge rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort (Opnum 7)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.8-01": ("test_a_call_needs_a_binding",),
    "MQQP-3.1.4.9-01": ("test_a_call_needs_a_binding",),
}
