"""MS-MQMQ 2.5: the signed data; MS-MQQB 3.1.7.1.4: signing; 3.1.5.8.3: authenticating."""

from dataclasses import replace
from uuid import UUID

import pytest
from security_made import (
    OTHER,
    RECEIVER_QM,
    SENDER_QM,
    certificate,
    message,
    rsa_key,
    with_flags,
    with_properties,
    with_security,
)

from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MultiQueueFormatHeader,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    UserHeader,
    parse_packet,
)
from reference_qm.security import HashAlgorithm, SecurityError, SignatureType, sign_message
from reference_qm.security.signatures import build_signed_content, find_valid_signature_type, is_signed

ADMIN_NAME = "OS:a\\private$\\adm"
ADMIN = (2 * len(ADMIN_NAME) + 2).to_bytes(2, "little") + (ADMIN_NAME + "\0").encode("utf-16-le")
SINGLE = (SignatureType.SIG10, SignatureType.SIG20)

FIRST = b"".join(
    (
        bytes(range(20)),
        bytes.fromhex("04030201"),
        b"a body of no block",
        "label\0".encode("utf-16-le"),
        SENDER_QM.bytes_le + bytes.fromhex("04000000"),
        ADMIN,
    )
)
LAST = b"".join(
    (
        SENDER_QM.bytes_le,
        bytes.fromhex("01 03 01 0D 0000 08000000"),
        UUID(int=3).bytes_le,
    )
)


def to_several(packet):
    """Return the packet with two destinations: a direct name, and then a private name, which must be aligned."""
    names = (
        MQFFormatNameElement(MQFDirectQueueFormatName("OS:b\\q")),
        MQFFormatNameElement(PrivateQueueFormatName(RECEIVER_QM, 6)),
    )
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(MQ=1)),
        MultiQueueFormatHeader=MultiQueueFormatHeader(Destination=MQFAddressHeader(0x0064, names)),
    )


def test_msmq_1_signature_hashes_its_properties_in_order():
    assert build_signed_content(message(), SignatureType.SIG10) == FIRST


def test_msmq_2_signature_hashes_its_properties_in_order():
    assert build_signed_content(message(), SignatureType.SIG20) == FIRST + LAST + bytes.fromhex("09000000")


def test_msmq_3_signature_hashes_its_properties_in_order():
    direct = bytes.fromhex("0300") + "OS:b\\q\0".encode("utf-16-le")
    private = bytes.fromhex("0200") + bytes(2) + RECEIVER_QM.bytes_le + bytes.fromhex("06000000")
    assert (12 + len(direct) + 2) % 4 == 2
    assert build_signed_content(to_several(message()), SignatureType.SIG30) == FIRST + b"ext" + direct + private + LAST


def test_missing_fields_add_no_signed_bytes():
    bare = message()
    flags = UserHeader.flags(DQ=3, SH=1, MP=1)
    bare = replace(
        with_properties(bare, Label=None, Flags=0xF0, ExtensionData=b""),
        UserHeader=UserHeader(Flags=flags, DestinationQueue=PrivateQueueFormatNameId(9)),
    )
    first = bytes(range(20)) + bytes.fromhex("04030201") + b"a body of no block"
    assert build_signed_content(bare, SignatureType.SIG10) == first
    last = bytes(16) + bytes.fromhex("00 03 00 00 0000 08000000")
    assert build_signed_content(bare, SignatureType.SIG30) == first + last


def test_signature_excludes_padding():
    packet = message()
    padded = replace(packet.UserHeader, AdminQueue=DirectQueueFormatName(ADMIN_NAME[:-1], Padding=b"\xee\xee"))
    plain = replace(packet.UserHeader, AdminQueue=DirectQueueFormatName(ADMIN_NAME[:-1]))
    for kind in SINGLE:
        assert build_signed_content(replace(packet, UserHeader=padded), kind) == build_signed_content(
            replace(packet, UserHeader=plain), kind
        )


def test_signature_excludes_padding_inside_a_destination_list():
    packet = to_several(message())
    direct, private = packet.MultiQueueFormatHeader.Destination.FormatNameList
    padded = MQFAddressHeader(0x0064, (direct, replace(private, Padding=b"\xee\xee")))
    other = replace(packet, MultiQueueFormatHeader=MultiQueueFormatHeader(Destination=padded))
    assert other.build() != packet.build()
    assert build_signed_content(other, SignatureType.SIG30) == build_signed_content(packet, SignatureType.SIG30)


def test_single_signature_is_verified_before_list_signature():
    packet = message()
    single = sign_message(packet, SignatureType.SIG20, rsa_key(1024)).SecurityHeader.SecurityData.Signature
    several = sign_message(to_several(packet), SignatureType.SIG30, rsa_key(1024))
    assert find_valid_signature_type(with_security(several, Signature=single)) is SignatureType.SIG20
    with pytest.raises(SecurityError, match="is not the signature of the message"):
        find_valid_signature_type(with_security(several, Signature=bytes(128)))


@pytest.mark.parametrize("algorithm", HashAlgorithm)
@pytest.mark.parametrize("kind", SINGLE)
def test_signature_verifies_after_build_and_parse_of_the_message(algorithm, kind):
    packet = with_flags(message(algorithm=algorithm), 1)
    signed = parse_packet(sign_message(packet, kind, rsa_key(1024)).build())
    assert (len(signed.SecurityHeader.SecurityData.Signature), signed.SecurityHeader.AI) == (128, 1)
    assert is_signed(signed)
    assert find_valid_signature_type(signed) is kind


@pytest.mark.parametrize("kind", SignatureType)
def test_multi_queue_message_has_signature_in_its_list_header(kind):
    signed = parse_packet(sign_message(to_several(message()), kind, rsa_key(1024)).build())
    assert signed.SecurityHeader.SecurityData.Signature == b""
    assert len(signed.MultiQueueFormatHeader.Signature.Signature) == 128
    assert find_valid_signature_type(signed) is SignatureType.SIG30


def other_user(packet, **fields):
    return replace(packet, UserHeader=replace(packet.UserHeader, **fields))


TAMPERS = {
    "body": lambda packet: with_properties(packet, MessageBody=b"another body here"),
    "label": lambda packet: with_properties(packet, Label="Label"),
    "correlation": lambda packet: with_properties(packet, CorrelationID=bytes(20)),
    "tag": lambda packet: with_properties(packet, ApplicationTag=1),
    "class": lambda packet: with_properties(packet, MessageClass=1),
    "body type": lambda packet: with_properties(packet, BodyType=9),
    "acknowledgments": lambda packet: with_properties(packet, Flags=0x0F),
    "priority": lambda packet: replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=BaseHeader.flags(PR=4))),
    "source": lambda packet: other_user(packet, SourceQueueManager=RECEIVER_QM),
    "response": lambda packet: other_user(packet, ResponseQueue=PrivateQueueFormatName(SENDER_QM, 5)),
    "admin": lambda packet: other_user(packet, AdminQueue=DirectQueueFormatName("OS:b\\private$\\adm")),
    "destination": lambda packet: other_user(packet, DestinationQueue=PrivateQueueFormatNameId(8)),
    "connector": lambda packet: other_user(packet, ConnectorType=UUID(int=4)),
    "journal": lambda packet: other_user(packet, Flags=packet.UserHeader.Flags ^ UserHeader.flags(JP=1)),
    "delivery": lambda packet: other_user(packet, Flags=packet.UserHeader.Flags ^ UserHeader.flags(DM=1)),
    "hash": lambda packet: with_properties(packet, HashAlgorithm=HashAlgorithm.SHA1),
    "certificate": lambda packet: with_security(packet, SenderCert=certificate(OTHER)),
    "signature": lambda packet: with_security(packet, Signature=bytes(128)),
}


@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=TAMPERS)
def test_changed_signed_field_invalidates_signature(tamper):
    signed = sign_message(message(), SignatureType.SIG20, rsa_key(1024))
    assert find_valid_signature_type(signed) is SignatureType.SIG20
    with pytest.raises(SecurityError, match="is not the signature of the message"):
        find_valid_signature_type(tamper(signed))


def test_extension_and_destinations_of_an_msmq_3_signature_are_signed():
    signed = sign_message(to_several(message()), SignatureType.SIG30, rsa_key(1024))
    fewer = replace(signed.MultiQueueFormatHeader, Destination=MQFAddressHeader(0x0064))
    for tampered in (with_properties(signed, ExtensionData=b"EXT"), replace(signed, MultiQueueFormatHeader=fewer)):
        with pytest.raises(SecurityError, match="is not the signature of the message"):
            find_valid_signature_type(tampered)


def test_signature_with_unknown_hash_fails_authentication():
    signed = sign_message(message(), SignatureType.SIG20, rsa_key(1024))
    with pytest.raises(SecurityError, match="HashAlgorithm"):
        find_valid_signature_type(with_properties(signed, HashAlgorithm=0x8005))


def test_signing_without_certificate_or_msmq_3_destination_list_is_refused():
    with pytest.raises(SecurityError, match="SenderCert"):
        sign_message(with_security(message(), SenderCert=b""), SignatureType.SIG20, rsa_key(1024))
    with pytest.raises(SecurityError, match="MultiQueueFormatHeader"):
        sign_message(message(), SignatureType.SIG30, rsa_key(1024))


def test_message_without_signature_is_reported_as_unsigned():
    assert not is_signed(message())
    assert not is_signed(to_several(message()))


def test_signature_covers_the_identifier_of_a_public_format_name():
    packet = other_user(message(), ResponseQueue=PublicQueueFormatName(UUID(int=5)))
    assert UUID(int=5).bytes_le in build_signed_content(packet, SignatureType.SIG10)
