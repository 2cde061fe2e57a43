"""Checks of other sections that judge rules of MS-MQQB 3.1.3.2 Session Initialization."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.3.2-10": ("test_what_was_received_is_acknowledged_when_the_delay_is_over",),
    "MQQB-3.1.3.2-28": ("test_an_order_ack_is_sent_when_the_timer_expires",),
    "MQQB-3.1.3.2-30": ("test_messages_put_the_order_ack_off_but_not_for_ever",),
    "MQQB-3.1.3.2-31": ("test_messages_put_the_order_ack_off_but_not_for_ever",),
}
