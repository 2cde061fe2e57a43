"""Checks of other sections that judge rules of MS-MQQP 3.1.4.1 RemoteQMStartReceive (Opnum 0)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.1-02": ("test_only_the_queue_and_request_of_a_waiting_read_cancel_it",),
    "MQQP-3.1.4.1-04": ("test_a_call_needs_a_binding",),
    "MQQP-3.1.4.10-01": ("test_a_call_needs_a_binding",),
}
