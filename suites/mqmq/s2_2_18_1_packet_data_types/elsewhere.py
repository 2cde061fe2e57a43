"""Checks of other sections that judge rules of MS-MQMQ 2.2.18.1 Packet data types."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.18.1.5.1-01": ("test_messages_to_a_private_name",),
    "MQMQ-2.2.18.1.6-01": ("test_an_order_ack_names_the_last_message_in_order",),
}
