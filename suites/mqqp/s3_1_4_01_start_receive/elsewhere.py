"""Checks of other sections that judge rules of MS-MQQP 3.1.4.1 RemoteQMStartReceive (Opnum 0)."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.4.1-02": ("test_only_the_queue_and_request_of_a_waiting_read_cancel_it",),
    "MQQP-3.1.4.1-03": ("test_what_the_client_sets",),
    "MQQP-3.1.4.1-04": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.1-07": ("test_only_a_receive_that_brought_a_message_is_ended",),
    "MQQP-3.1.4.1-08": ("test_a_read_is_one_of_three_and_the_next_message_is_that_of_a_cursor",),
    "MQQP-3.1.4.1-09": ("test_a_read_is_one_of_three_and_the_next_message_is_that_of_a_cursor",),
    "MQQP-3.1.4.1-D21": ("test_what_a_method_refuses_is_returned",),
    "MQQP-3.1.4.10-01": ("test_each_method_is_called_on_a_binding_and_an_open_queue",),
    "MQQP-3.1.4.10-04": ("test_only_a_receive_that_brought_a_message_is_ended",),
    "MQQP-3.1.4.10-06": ("test_what_the_client_sets",),
    "MQQP-3.1.4.10-07": ("test_a_read_is_one_of_three_and_the_next_message_is_that_of_a_cursor",),
    "MQQP-3.1.4.10-08": ("test_a_read_is_one_of_three_and_the_next_message_is_that_of_a_cursor",),
    "MQQP-3.1.4.10-D05": ("test_what_a_method_refuses_is_returned",),
}
