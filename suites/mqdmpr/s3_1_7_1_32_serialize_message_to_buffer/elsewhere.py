"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.32-02": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-03": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-05": (
        "test_a_traced_message_field_by_field",
        "test_a_transactional_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-06": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-07": ("test_messages_are_signed_as_asked",),
    "MQDMPR-3.1.7.1.32-08": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D01": (
        "test_a_traced_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D02": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D03": ("test_a_signed_message_field_by_field",),
    "MQDMPR-3.1.7.1.32-D04": (
        "test_a_transactional_message_field_by_field",
        "test_first_and_last_message_of_a_transaction",
        "test_the_guid_of_a_connector_is_handed_on_as_it_came",
    ),
    "MQDMPR-3.1.7.1.32-D05": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D06": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQDMPR-3.1.7.1.32-D07": ("test_a_traced_message_field_by_field",),
    "MQDMPR-3.1.7.1.32-D08": (
        "test_a_message_that_is_not_transactional",
        "test_a_message_that_nobody_received_in_time",
        "test_a_queue_that_is_full",
        "test_a_queue_that_is_not_transactional",
        "test_an_acknowledgment_field_by_field",
        "test_what_is_done_with_a_message_in_its_queue",
    ),
    "MQDMPR-3.1.7.1.32-D09": ("test_bodies_are_encrypted_as_asked",),
    "MQDMPR-3.1.7.1.32-D10": (
        "test_a_transactional_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D11": (
        "test_a_transactional_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.32-D12": ("test_bodies_are_encrypted_as_asked",),
    "MQDMPR-3.1.7.1.32-D13": ("test_every_hash_has_its_number",),
    "MQDMPR-3.1.7.1.32-D14": (
        "test_a_direct_destination_is_counted_and_padded",
        "test_a_public_destination_is_its_guid",
        "test_names_are_written_as_their_type_says",
    ),
    "MQDMPR-3.1.7.1.32-D15": ("test_names_are_written_as_their_type_says",),
    "MQDMPR-3.1.7.1.32-D16": ("test_names_are_written_as_their_type_says",),
    "MQDMPR-3.1.7.1.32-D17": ("test_a_message_that_nobody_signed", "test_who_signed_a_message"),
}
