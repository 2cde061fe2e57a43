"""Checks of other sections that judge rules of MS-MQQB 3.1.7.3 Handling a Network Disconnect."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.3-01": ("test_initiator_connects_again_when_messages_are_left",),
}
