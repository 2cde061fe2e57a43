"""Checks of other sections that judge rules of MS-MQQP 3.1.4.6 RemoteQMCancelReceive (Opnum 5)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.6-02": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.6-03": ("test_only_a_read_that_was_begun_is_cancelled",),
    "MQQP-3.1.4.6-04": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.6-D02": ("test_what_a_method_refuses_is_returned",),
}
