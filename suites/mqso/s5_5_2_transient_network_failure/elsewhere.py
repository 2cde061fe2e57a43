"""Checks of other sections that judge rules of MS-MQSO 5.5.2 Transient Network Failure."""

CHECKED_ELSEWHERE = {
    "MQSO-5.5.2-D01": ("test_messages_wait_for_a_network_that_is_away",),
}
