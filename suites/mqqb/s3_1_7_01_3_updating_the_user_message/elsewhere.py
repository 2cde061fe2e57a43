"""Checks of other sections that judge rules of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.1.3-09": ("test_messages_without_order_ack_are_sent_again",),
    "MQQB-3.1.7.1.3-10": ("test_messages_without_order_ack_are_sent_again",),
}
