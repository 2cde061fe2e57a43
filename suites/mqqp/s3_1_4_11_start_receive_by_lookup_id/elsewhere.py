"""Checks of other sections that judge rules of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId (Opnum 10)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.11-01": ("test_a_call_needs_a_binding",),
}
