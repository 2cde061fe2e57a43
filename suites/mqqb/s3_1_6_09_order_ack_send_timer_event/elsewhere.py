"""Checks of other sections that judge rules of MS-MQQB 3.1.6.9 Order Ack Send Timer Event."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.6.9-01": (
        "test_an_order_ack_is_sent_when_the_timer_expires",
        "test_an_order_ack_of_any_number",
        "test_an_order_ack_to_a_private_name",
    ),
    "MQQB-3.1.6.9-02": ("test_rejections_are_counted_and_times_noted",),
}
