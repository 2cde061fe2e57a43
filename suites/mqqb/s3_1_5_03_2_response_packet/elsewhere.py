"""Checks of other sections that judge rules of MS-MQQB 3.1.5.3.2 Response Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.3.2-15": ("test_the_outgoing_queue_tells_how_far_its_session_is",),
}
