"""Checks of other sections that judge rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort (Opnum 7)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.8-01": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.9-01": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
}
