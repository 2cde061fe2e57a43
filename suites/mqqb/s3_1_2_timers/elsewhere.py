"""Checks of other sections that judge rules of MS-MQQB 3.1.2 Timers."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.2.1-01": ("test_an_acceptor_that_gets_no_parameters_closes",),
    "MQQB-3.1.2.1-D01": (
        "test_an_accepted_session_outlives_the_timer",
        "test_an_acceptor_that_gets_no_parameters_closes",
    ),
    "MQQB-3.1.2.2-01": ("test_idle_session_is_closed_and_a_used_one_a_cleanup_time_later",),
    "MQQB-3.1.2.4-01": ("test_session_whose_messages_are_not_acknowledged_is_closed",),
    "MQQB-3.1.2.5-D01": ("test_what_was_received_is_acknowledged_when_the_delay_is_over",),
    "MQQB-3.1.2.6-01": ("test_messages_without_order_ack_are_sent_again",),
    "MQQB-3.1.2.7-01": ("test_an_order_ack_is_sent_when_the_timer_expires",),
    "MQQB-3.1.2.8-01": (
        "test_a_message_that_was_forgotten_is_taken_once_more",
        "test_old_entries_are_deleted_each_time_that_the_timer_expires",
    ),
}
