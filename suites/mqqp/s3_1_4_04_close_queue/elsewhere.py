"""Checks of other sections that judge rules of MS-MQQP 3.1.4.4 RemoteQMCloseQueue (Opnum 3)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.4-02": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.4-D01": ("test_what_a_method_refuses_is_returned",),
}
