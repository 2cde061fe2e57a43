"""Two ``serve`` processes with keys exchange signed and encrypted messages."""

from __future__ import annotations

import base64
import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from patience import PATIENCE_S
from qm_process import Control, free_port, serve

SENDER, RECEIVER = "127.0.0.1", "127.0.0.2"
GUIDS = {SENDER: "6d71636f-6e66-4f72-8d00-0000000000a1", RECEIVER: "6d71636f-6e66-4f72-8d00-0000000000b2"}
ALICE = "S-1-5-21-1-2-3-1000"
QUEUE = "private$\\strict"


def make_user(folder: Path) -> None:
    """Write the certificate and the private key of a user to a folder."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "alice")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
    (folder / "alice.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "alice.key.pem").write_bytes(pem)


def settings(address: str, port: int, keys: str = "") -> str:
    remote = f'[security.remote_keys]\n"{GUIDS[RECEIVER]}" = "{keys}"' if keys else ""
    return f"""
        [queue_manager]
        identifier = "{GUIDS[address]}"
        [listen]
        address = "{address}"
        tcp_port = {port}
        ping = false
        [remote]
        tcp_port = {port}
        [control]
        address = "127.0.0.1:0"
        [routes]
        "{GUIDS[RECEIVER]}" = "{RECEIVER}"
        [[queues]]
        name = '{QUEUE}'
        authenticated = true
        privacy = "body"
        allow = {{ "{ALICE}" = ["write_message"] }}
        [store]
        path = "store"
        [security]
        folder = "keys"
        generate = {str(address == RECEIVER).lower()}
        [[security.users]]
        name = "alice"
        sid = "{ALICE}"
        certificates = ["alice.pem"]
        {'key = "alice.key.pem"' if address == SENDER else ""}
        {remote}
    """.replace('path = "store"', f'path = "STORE/{address}"')


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    made = {}
    for address in GUIDS:
        made[address] = tmp_path / address
        (made[address] / "keys").mkdir(parents=True)
    make_user(made[SENDER] / "keys")
    (made[RECEIVER] / "keys" / "alice.pem").write_bytes((made[SENDER] / "keys" / "alice.pem").read_bytes())
    return made


def name_of(control: Control) -> str:
    """Return the private format name of the receiver's only queue."""
    (queue,) = control.call("inspect")["adm"]["QueueManager"]["QueueCollection"]
    assert (queue["Authentication"], queue["PrivacyLevel"]) == (True, "Body")
    return f"PRIVATE={GUIDS[RECEIVER]}\\{queue['PrivateQueueNumber']:08X}"


@pytest.mark.parametrize(("delivery", "level"), [("express", "base"), ("recoverable", "advanced")])
def test_a_signed_and_encrypted_message_arrives(folders: dict[str, Path], delivery: str, level: str):
    port = free_port(SENDER, RECEIVER)
    with contextlib.ExitStack() as stack:

        def start(address: str, keys: str = "") -> Control:
            toml = settings(address, port, keys).replace("STORE", str(folders[address]))
            served = stack.enter_context(serve(folders[address], toml=toml))
            return stack.enter_context(served.control())

        receiver = start(RECEIVER)
        keys: str = receiver.call("identity")["public_encryption_keys_base64"]
        assert len(base64.b64decode(keys)) > 500
        sender = start(SENDER, keys)
        to = name_of(receiver)
        asked: dict[str, Any] = {"privacy_level": level, "authentication_level": "sig20"}
        sender.call("send", to=to, body="refused: nobody signed it", privacy_level=level)
        sender.call("send", to=to, body="for your eyes only", delivery=delivery, **asked)
        message = receiver.call("receive", queue=QUEUE, timeout_ms=PATIENCE_S * 1000)["message"]
        assert message["body"] == "for your eyes only"
        security = message["security"]
        assert (security["authentication_level"], security["privacy_level"]) == ("sig20", level)
        assert (security["sender"], security["hash_algorithm"]) == (ALICE, "sha512")
        assert receiver.call("receive", queue=QUEUE, timeout_ms=0)["message"] is None
