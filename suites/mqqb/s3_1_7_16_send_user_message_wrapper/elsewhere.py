"""Checks of other sections that judge rules of MS-MQQB 3.1.7.16 Send User Message Wrapper."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.16-03": ("test_a_message_is_sent_with_all_that_it_has",),
    "MQQB-3.1.7.16-06": ("test_what_a_lost_session_did_not_deliver_is_sent_on_the_next",),
}
