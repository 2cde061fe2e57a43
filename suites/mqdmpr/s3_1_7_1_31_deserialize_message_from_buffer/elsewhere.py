"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.31-03": ("test_a_received_message_is_that_of_the_packet",),
    "MQDMPR-3.1.7.1.31-04": (
        "test_a_received_message_is_that_of_the_packet",
        "test_what_is_received_is_what_was_sent",
    ),
    "MQDMPR-3.1.7.1.31-06": (
        "test_a_signature_counts_as_what_it_is",
        "test_a_signature_that_the_system_makes_is_genuine_to_it",
    ),
    "MQDMPR-3.1.7.1.31-D02": (
        "test_a_received_message_is_that_of_the_packet",
        "test_what_is_received_is_what_was_sent",
    ),
    "MQDMPR-3.1.7.1.31-D04": ("test_a_queue_manager_on_the_way_passes_transactional_messages_on",),
    "MQDMPR-3.1.7.1.31-D06": ("test_a_distribution_list_among_destinations_is_its_guid",),
    "MQDMPR-3.1.7.1.31-D07": ("test_a_traced_message_that_arrives_is_reported",),
    "MQDMPR-3.1.7.1.31-D08": (
        "test_a_signature_counts_as_what_it_is",
        "test_a_signature_that_the_system_makes_is_genuine_to_it",
    ),
    "MQDMPR-3.1.7.1.31-D15": ("test_a_destination_is_read_as_its_type_says",),
    "MQDMPR-3.1.7.1.31-D16": ("test_names_are_read_as_their_type_says",),
    "MQDMPR-3.1.7.1.31-D17": ("test_names_are_read_as_their_type_says",),
}
