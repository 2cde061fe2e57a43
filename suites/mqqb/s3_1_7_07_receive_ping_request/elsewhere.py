"""Checks of other sections that judge rules of MS-MQQB 3.1.7.7 Receive Ping Request."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.7.7-01": (
        "test_response_repeats_type_and_cookie_of_the_request",
        "test_the_same_request_is_answered_again",
    ),
    "MQQB-3.1.7.7-03": ("test_request_with_another_signature_is_not_answered",),
    "MQQB-3.1.7.7-05": (
        "test_response_foretells_what_happens_to_a_session",
        "test_what_is_foretold_changes_when_there_is_room_again",
    ),
    "MQQB-3.1.7.7-07": ("test_response_repeats_type_and_cookie_of_the_request",),
    "MQQB-3.1.7.7-08": ("test_response_repeats_type_and_cookie_of_the_request",),
    "MQQB-3.1.7.7-10": ("test_response_repeats_type_and_cookie_of_the_request",),
}
