"""Checks of other sections that judge rules of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId (Opnum 10)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.11-01": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.11-04": ("test_only_a_receive_that_brought_a_message_is_ended",),
    "MQQP-3.1.4.11-05": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-07": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-08": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-09": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-10": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-11": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-12": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-13": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-14": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-15": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-16": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-17": ("test_a_lookup_has_neither_cursor_nor_time_out",),
    "MQQP-3.1.4.11-D08": ("test_what_a_method_refuses_is_returned",),
}
