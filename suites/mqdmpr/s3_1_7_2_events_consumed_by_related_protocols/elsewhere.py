"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.2.1-04": ("test_a_cursor_stays_where_its_message_was",),
    "MQDMPR-3.1.7.2.1-05": ("test_of_receives_that_wait_each_message_goes_to_one",),
    "MQDMPR-3.1.7.2.2-11": ("test_of_receives_that_wait_each_message_goes_to_one",),
    "MQDMPR-3.1.7.2.2-12": ("test_of_receives_that_wait_each_message_goes_to_one",),
    "MQDMPR-3.1.7.2.3-03": ("test_a_pause_holds_what_waits_for_room_in_the_window",),
    "MQDMPR-3.1.7.2.4-03": ("test_a_resumed_queue_without_a_session_establishes_one",),
    "MQDMPR-3.1.7.2.5-03": ("test_it_is_throttled_while_resources_are_short",),
    "MQDMPR-3.1.7.2.6-03": ("test_it_is_throttled_while_resources_are_short",),
    "MQDMPR-3.1.7.2.7-12": ("test_leaving_a_queue_is_acknowledged_when_asked_for",),
}
