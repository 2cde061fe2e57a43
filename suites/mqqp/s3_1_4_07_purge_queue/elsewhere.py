"""Checks of other sections that judge rules of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue (Opnum 6)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.7-01": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.7-02": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
}
