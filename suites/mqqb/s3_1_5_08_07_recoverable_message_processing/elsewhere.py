"""Checks of other sections that judge rules of MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.8.7-01": (
        "test_messages_are_counted_and_acknowledged_half_the_timeout_after_the_first",
        "test_the_first_recoverable_message_brings_the_acknowledgment_forward",
    ),
    "MQQB-3.1.5.8.7-14": ("test_the_first_recoverable_message_brings_the_acknowledgment_forward",),
}
