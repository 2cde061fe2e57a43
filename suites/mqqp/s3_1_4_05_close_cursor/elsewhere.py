"""Checks of other sections that judge rules of MS-MQQP 3.1.4.5 RemoteQMCloseCursor (Opnum 4)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.5-02": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.5-D01": ("test_what_a_method_refuses_is_returned",),
}
