"""Checks of other sections that judge rules of MS-MQSO 5.1.2 Directory Abstract Data Model."""

CHECKED_ELSEWHERE = {
    "MQSO-5.1.2-01": ("test_messages_go_by_way_of_the_router",),
}
