"""Checks of other sections that judge rules of MS-MQQP 3.1.4.3 RemoteQMOpenQueue (Opnum 2)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.3-02": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-03": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-04": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-05": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-06": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-07": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-08": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-09": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.3-D01": ("test_licences_are_counted_from_0_to_16",),
    "MQQP-3.1.4.3-D02": ("test_what_a_method_refuses_is_returned",),
}
