"""Checks of other sections that judge rules of MS-MQMQ 2.2.20.6 SecurityHeader."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.20.6-06": ("test_bodies_are_decrypted",),
    "MQMQ-2.2.20.6-25": ("test_messages_are_signed_as_asked",),
    "MQMQ-2.2.20.6-26": ("test_messages_are_signed_as_asked",),
    "MQMQ-2.2.20.6-27": ("test_messages_are_signed_as_asked",),
    "MQMQ-2.2.20.6-28": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-29": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-30": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-31": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-32": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-33": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-34": ("test_published_keys_are_those_that_decrypt",),
    "MQMQ-2.2.20.6-35": ("test_published_keys_are_those_that_decrypt",),
}
