"""MS-MQSO 7.4.1.1 Transport Layer Security, 7.4.1.3 Security Model: authentication services and public keys."""

from __future__ import annotations

import base64

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, QM2QM, Proposal, bind

UNKNOWN_AUTHENTICATION_SERVICE, CONNECT_AUTHENTICATION_LEVEL = 0x5F, 2
UNKNOWN_AUTHENTICATION_TOKEN = b"no token of any service"
SAMPLE_CALL_ID = 77


@needs("qm2qm")
@covers("MQSO-7.4.1.1-01")
def test_unknown_authentication_service_is_refused(remote, judge):
    """The SUT refuses a bind and an alter_context with an unknown authentication service. It accepts a bind with the
    service that the SUT file names, or without authentication if the file names no user.
    """
    port = remote.get_read_port()
    first_connection, second_connection = remote.connect(port), remote.connect(port)
    manner = (
        "bind without an authentication service"
        if remote.sut.file.rpc.user is None
        else f"bind with {remote.sut.file.rpc.auth_type.name}"
    )
    refused, said = first_connection.bind_and_list_rejected_interfaces(QM2QM, transfers=(NDR,))
    judge(
        "MQSO-7.4.1.1-01",
        expected=holds("accepted"),
        observed=not refused or f"refused: {said}",
        case=manner,
        evidence=first_connection.record.frames,
    )
    packet = bytes(bind(SAMPLE_CALL_ID, [Proposal(0, QM2QM, (NDR,))]))
    second_connection.send(append_authentication_trailer(packet))
    remote.peer.environment.run_until(
        lambda: bool(second_connection.answers) or second_connection.over, remote.peer.sut.response_timeout_ms
    )
    agreed = any(frame.kind == "bind_ack" for frame in second_connection.answers)
    judge(
        "MQSO-7.4.1.1-01",
        expected=holds("refused", otherwise="accepted"),
        observed=not agreed,
        case="bind with an unknown authentication service",
        evidence=second_connection.record.frames,
    )
    known = len(first_connection.answers)
    packet = bytes(bind(SAMPLE_CALL_ID, [Proposal(1, QM2QM, (NDR,))], kind="alter_context"))
    first_connection.send(append_authentication_trailer(packet))
    remote.peer.environment.run_until(
        lambda: len(first_connection.answers) > known or first_connection.over, remote.peer.sut.response_timeout_ms
    )
    agreed = any(frame.kind == "alter_context_resp" for frame in first_connection.answers[known:])
    judge(
        "MQSO-7.4.1.1-01",
        expected=holds("refused", otherwise="accepted"),
        observed=not agreed,
        case="alter_context with an unknown authentication service",
        evidence=first_connection.record.frames,
    )


def append_authentication_trailer(packet):
    """Return a PDU with an authentication trailer and token for an unknown authentication service
    (MS-RPCE 2.2.2.11).
    """
    trailer = bytes([UNKNOWN_AUTHENTICATION_SERVICE, CONNECT_AUTHENTICATION_LEVEL, 0, 0]) + bytes(4)
    size = len(packet) + len(trailer) + len(UNKNOWN_AUTHENTICATION_TOKEN)
    return (
        packet[:8]
        + size.to_bytes(2, "little")
        + len(UNKNOWN_AUTHENTICATION_TOKEN).to_bytes(2, "little")
        + packet[12:]
        + trailer
        + UNKNOWN_AUTHENTICATION_TOKEN
    )


@needs("directory", "environment", "security")
@covers("MQSO-7.4.1.3-04")
def test_public_keys_are_in_directory_object(sut, judge):
    """The SUT's directory object contains the public encryption and signing keys that the SUT reports."""
    observed = sut.read_directory_object() or {}
    keys = base64.b64decode(observed.get("public_encryption_keys_base64", ""))
    judge(
        "MQSO-7.4.1.3-04",
        expected=holds("the directory object contains the public keys of the SUT"),
        observed=bool(keys and keys == sut.encryption_keys) or f"{len(keys)} other bytes",
    )
    signing = sut.control.call("identity").get("public_signing_keys_base64")
    if signing:
        judge(
            "MQSO-7.4.1.3-04",
            expected=signing,
            observed=observed.get("public_signing_keys_base64"),
            case="public signing keys in the directory object",
        )
