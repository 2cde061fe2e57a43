"""Checks of other sections that judge rules of MS-MQSO 7 Security."""

CHECKED_ELSEWHERE = {
    "MQSO-7.3-02": ("test_a_restricted_queue",),
    "MQSO-7.3-03": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.3-D01": ("test_a_restricted_queue",),
    "MQSO-7.4.1.3-03": ("test_bodies_are_decrypted",),
    "MQSO-7.4.1.3-D01": ("test_a_message_that_names_no_sender_has_no_identity_to_verify",),
    "MQSO-7.4.1.4.1-D01": ("test_signatures_are_verified",),
    "MQSO-7.4.1.4.2-01": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.4.1.4.2-02": ("test_signatures_are_verified",),
    "MQSO-7.4.1.4.2-03": ("test_signatures_are_verified",),
    "MQSO-7.4.1.4.2-05": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.4.1.4.2-D01": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.4.1.4.2-D02": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.4.1.4.2-D03": ("test_the_certificate_must_be_its_senders",),
    "MQSO-7.4.1.4.2-D04": ("test_a_message_that_names_no_sender_has_no_identity_to_verify",),
    "MQSO-7.4.1.4.3-01": ("test_bodies_are_encrypted_as_asked",),
    "MQSO-7.4.1.4.3-D01": ("test_bodies_are_encrypted_as_asked",),
    "MQSO-7.4.1.4.3-D02": ("test_bodies_are_decrypted",),
}
