"""Checks of other sections that judge rules of MS-MQSO 5.1.1.2 Queues and Queue States."""

CHECKED_ELSEWHERE = {
    "MQSO-5.1.1.2-D09": ("test_messages_are_transferred_when_the_network_is_back",),
}
