"""Checks of other sections that judge rules of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.5.2.3-01": ("test_an_initiator_that_gets_no_response_closes",),
    "MQQB-3.1.5.2.3-08": ("test_a_private_name_tells_the_queue_manager",),
    "MQQB-3.1.5.2.3-13": ("test_a_valid_response_is_answered_by_parameters",),
    "MQQB-3.1.5.2.3-14": ("test_the_outgoing_queue_tells_how_far_its_session_is",),
    "MQQB-3.1.5.2.3-15": ("test_an_initiator_that_gets_no_response_closes",),
    "MQQB-3.1.5.2.3-16": ("test_the_outgoing_queue_tells_how_far_its_session_is",),
}
