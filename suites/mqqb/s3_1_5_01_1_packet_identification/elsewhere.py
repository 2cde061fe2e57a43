"""Checks of other sections that judge rules of MS-MQQB 3.1.5.1.1 Identifying Packet Type."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.1.1-01": ("test_an_establish_connection_is_known_by_in_and_pt",),
}
