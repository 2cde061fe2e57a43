"""Checks of other sections that judge rules of MS-MQSO 5.1.1.3 Messages and Message States."""

CHECKED_ELSEWHERE = {
    "MQSO-5.1.1.3-D01": ("test_recoverable_and_transactional_messages_live_here",),
    "MQSO-5.1.1.3-D02": ("test_what_could_not_be_delivered_is_kept_where_it_was_asked_for",),
    "MQSO-5.1.1.3-D03": ("test_messages_go_by_way_of_the_router",),
    "MQSO-5.1.1.3-D08": ("test_what_could_not_be_delivered_is_kept_where_it_was_asked_for",),
}
