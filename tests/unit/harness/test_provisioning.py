"""Provisions: the virtual SUT gets the same settings that ``mqconform serve`` reads from the provisioned folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.sut.provisioning import (
    GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY,
    GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS,
    MALLORY,
    USERS,
    build_virtual_security,
    write_provisions,
)
from harness.sut.sut_file import PEER_IDENTIFIER
from harness.wire.protection import read_certificate_key
from reference_qm.security import Sid
from reference_qm.shell.settings import load_settings
from reference_qm.surface.entropy import SeededEntropy


def test_serve_and_virtual_system_are_provisioned_equally(tmp_path: Path) -> None:
    text = write_provisions(tmp_path / "keys", PEER_IDENTIFIER, "private$\\mqc-restricted", "127.0.0.2")
    file = tmp_path / "qm.toml"
    file.write_text(text, encoding="utf-8")
    config = load_settings(file, {}, SeededEntropy("provisions")).config
    virtual = build_virtual_security(PEER_IDENTIFIER)
    assert [account.name for account in config.security.accounts] == [user.name for user in USERS]
    assert [account.certificates for account in config.security.accounts] == [
        account.certificates for account in virtual.accounts
    ]
    assert config.security.remote_keys == virtual.remote_keys
    assert {name: key.private_numbers() for name, key in config.security.encryption_keys.items()} == {
        name: key.private_numbers() for name, key in virtual.encryption_keys.items()
    }
    assert set(config.routes) == {
        PEER_IDENTIFIER,
        GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY,
        GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS,
    }
    assert not list((tmp_path / "keys").glob("peer_*")) and not list((tmp_path / "keys").glob("mallory*"))


@pytest.mark.parametrize("user", [*USERS, MALLORY], ids=lambda user: user.name)
def test_a_user_has_the_key_of_its_certificate_and_a_sid(user) -> None:
    assert read_certificate_key(user.certificate).modulus == user.key.modulus
    assert Sid.parse(user.security_id) == Sid.of(user.sid)
