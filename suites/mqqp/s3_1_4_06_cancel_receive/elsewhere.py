"""Checks of other sections that judge rules of MS-MQQP 3.1.4.6 RemoteQMCancelReceive (Opnum 5)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.6-04": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
}
