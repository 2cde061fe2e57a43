"""Checks of other sections that judge rules of MS-MQMQ 2.2.20 UserMessage Packet."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.20.3-05": ("test_messages_are_signed_as_asked",),
}
