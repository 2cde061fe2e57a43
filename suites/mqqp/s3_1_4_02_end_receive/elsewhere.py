"""Checks of other sections that judge rules of MS-MQQP 3.1.4.2 RemoteQMEndReceive (Opnum 1)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.2-03": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.2-04": ("test_only_a_receive_that_brought_a_message_is_ended",),
    "MQQP-3.1.4.2-05": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.2-D02": ("test_an_acknowledgment_is_1_or_2",),
    "MQQP-3.1.4.2-D03": ("test_what_a_method_refuses_is_returned",),
}
