"""Checks of other sections that judge rules of MS-MQMQ 2.2.20 UserMessage Packet."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.20-D01": (
        "test_a_message_of_the_largest_size_is_taken",
        "test_no_larger_message_is_sent",
    ),
    "MQMQ-2.2.20.2-D01": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQMQ-2.2.20.2-D02": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQMQ-2.2.20.2-D03": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQMQ-2.2.20.3-05": ("test_messages_are_signed_as_asked",),
    "MQMQ-2.2.20.3-D01": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
}
