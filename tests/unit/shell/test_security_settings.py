"""The table [security], and the security demands of [[queues]], in the file of ``serve``."""

from __future__ import annotations

import base64
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from reference_qm.directory.enums import PrivacyLevel
from reference_qm.security import (
    ANONYMOUS_SID,
    DEFAULT_QUEUE_SECURITY,
    EVERYONE_SID,
    KEY_BITS_BY_PROVIDER,
    Ace,
    AceType,
    Acl,
    EncryptionAlgorithm,
    QueueAccess,
    SecurityConfig,
    SecurityDescriptor,
    SecuritySettings,
    Sid,
    build_default_queue_security,
    build_directory_key_list,
    generate_rsa_key,
)
from reference_qm.shell.settings import ServeSettings, load_settings
from reference_qm.shell.toml_values import SettingsError
from reference_qm.surface.entropy import SeededEntropy

GUID = "6d71636f-6e66-4f72-8d00-000000000001"
ALICE = Sid.of("S-1-5-21-1-2-3-1000")
GENERATED = "[security]\nfolder = 'keys'\ngenerate = true\n"


@pytest.fixture
def certificate() -> bytes:
    """Return a DER certificate of an arbitrary subject."""
    key = generate_rsa_key(1024, SeededEntropy("certificate"))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "alice")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
    return made.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def load(folder: Path, text: str) -> ServeSettings:
    path = folder / "qm.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {}, SeededEntropy("settings"))


def write_pem(path: Path, key) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as error:
        load(folder, text)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_missing_security_table_means_no_keys_and_users(tmp_path: Path):
    assert load(tmp_path, "").config.security == SecurityConfig()


def test_private_keys_are_generated_once_and_readable_only_by_owner(tmp_path: Path):
    made = load(tmp_path, GENERATED).config.security
    assert {name: key.key_size for name, key in made.encryption_keys.items()} == dict(KEY_BITS_BY_PROVIDER)
    assert {name: key.key_size for name, key in made.signing_keys.items()} == dict(KEY_BITS_BY_PROVIDER)
    files = sorted((tmp_path / "keys").iterdir())
    assert [one.name for one in files] == [
        f"{use}_{provider}.pem" for use in ("encryption", "signing") for provider in ("advanced", "base", "enhanced")
    ]
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    again = load(tmp_path, GENERATED).config.security
    for mine, theirs in ((made.encryption_keys, again.encryption_keys), (made.signing_keys, again.signing_keys)):
        assert build_directory_key_list(mine) == build_directory_key_list(theirs)


def test_existing_private_keys_are_used_and_no_others_are_generated(tmp_path: Path):
    write_pem(tmp_path / "keys" / "encryption_advanced.pem", key := generate_rsa_key(1024, SeededEntropy("k")))
    security = load(tmp_path, "[security]\nfolder = 'keys'").config.security
    (loaded,) = security.encryption_keys.values()
    assert loaded.private_numbers() == key.private_numbers()
    assert not security.signing_keys


def test_security_table_gives_users_settings_and_remote_keys(tmp_path: Path, certificate: bytes):
    write_pem(tmp_path / "keys" / "alice.key.pem", generate_rsa_key(1024, SeededEntropy("k")))
    pem = x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM)
    (tmp_path / "keys" / "alice.pem").write_bytes(pem)
    keys = build_directory_key_list({next(iter(KEY_BITS_BY_PROVIDER)): generate_rsa_key(512, SeededEntropy("r"))})
    security = load(
        tmp_path,
        f"""
        [security]
        folder = "keys"
        preferred_base = "rc2"
        preferred_enhanced = "rc2"
        preferred_advanced = "aes128"
        send_enhanced_rc2_using_40_bit_keys = true
        reject_enhanced_rc2_using_40_bit_keys = true
        [[security.users]]
        name = "alice"
        sid = "{ALICE}"
        groups = ["S-1-5-32-545"]
        certificates = ["alice.pem"]
        key = "alice.key.pem"
        [security.remote_keys]
        "{GUID}" = "{base64.b64encode(keys.build()).decode()}"
        """,
    ).config.security
    assert security.settings == SecuritySettings(
        PreferredBaseAlgorithm=EncryptionAlgorithm.RC2,
        PreferredEnhancedAlgorithm=EncryptionAlgorithm.RC2,
        PreferredAdvancedAlgorithm=EncryptionAlgorithm.AES128,
        SendEnhancedRC2Using40BitKeys=True,
        RejectEnhancedRC2Using40BitKeys=True,
    )
    (alice,) = security.accounts
    assert (alice.name, alice.SecurityIdentifier, alice.groups) == ("alice", ALICE, {Sid.of("S-1-5-32-545")})
    assert alice.certificates == (certificate,)
    assert alice.key is not None
    assert list(security.remote_keys.values()) == [keys]


def test_security_demands_and_grants_of_a_queue_are_read(tmp_path: Path):
    plain, strict, owned = load(
        tmp_path,
        f"""
        [[queues]]
        name = 'private$\\plain'
        [[queues]]
        name = 'private$\\strict'
        authenticated = true
        privacy = "body"
        allow = {{ "S-1-1-0" = ["write_message", "peek_message"] }}
        deny = {{ "{ALICE}" = ["queue_generic_all"] }}
        [[queues]]
        name = 'private$\\owned'
        owner = "{ALICE}"
        """,
    ).config.queues
    assert (plain.authenticated, plain.privacy) == (False, PrivacyLevel.OPTIONAL)
    assert plain.security == DEFAULT_QUEUE_SECURITY
    assert (strict.authenticated, strict.privacy) == (True, PrivacyLevel.BODY)
    denied = Ace(AceType.ACCESS_DENIED, int(QueueAccess.MQSEC_QUEUE_GENERIC_ALL), ALICE)
    allowed = Ace(
        AceType.ACCESS_ALLOWED, int(QueueAccess.MQSEC_WRITE_MESSAGE | QueueAccess.MQSEC_PEEK_MESSAGE), EVERYONE_SID
    )
    assert strict.security == SecurityDescriptor(ANONYMOUS_SID, None, Acl((denied, allowed)))
    assert owned.security == build_default_queue_security(ALICE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("security = 1", "[security] must be a table"),
        ("[security]\nkeys = 'x'", "[security]: unknown key 'keys'; known: folder, generate,"),
        ("[security]\npreferred_base = 'des'", "[security] preferred_base = 'des': must be one of rc2, rc4,"),
        ("[security.users]\nname = 'a'", "[[security.users]] must be a list of tables"),
        ("[[security.users]]\nsid = 'S-1-1-0'", "[[security.users]] 1: name is missing"),
        ("[[security.users]]\nname = 'a'\nsid = 'a'", "[[security.users]] 1 sid = 'a': must be a SID like S-1-5-21"),
        (
            "[[security.users]]\nname = 'a'\nsid = 'S-1-1-0'\ngroups = 'S-1-1-0'",
            "groups = 'S-1-1-0': must be a list",
        ),
        (
            "[security]\nusers = [{ name = 'a', sid = 'S-1-1-0' }, { name = 'a', sid = 'S-1-1-1' }]",
            "[[security.users]]: user 'a' is listed twice",
        ),
        ("[security]\nremote_keys = 1", "[security.remote_keys] must be a table of GUID = base64"),
        ("[security.remote_keys]\nx = ''", "[security.remote_keys] key = 'x': must be a GUID"),
        (f"[security.remote_keys]\n{GUID} = 'AAAA'", f"{GUID} = 'AAAA': must be a PublicEncryptionKeyList in base64"),
        (
            "[[queues]]\nname = 'private$\\a'\nprivacy = 'high'",
            "[[queues]] 1 privacy = 'high': must be one of none, optional, body",
        ),
        ("[[queues]]\nname = 'private$\\a'\nallow = 1", "[[queues]] 1 allow must be a table of SID = list of rights"),
        (
            "[[queues]]\nname = 'private$\\a'\nallow = { 'S-1-1-0' = ['fly'] }",
            "[[queues]] 1 allow S-1-1-0 = ['fly']: must be one of delete_message, peek_message, write_message",
        ),
        ("[[queues]]\nname = 'private$\\a'\ndeny = { 'me' = [] }", "[[queues]] 1 deny = 'me': must be a SID"),
    ],
)
def test_unusable_security_setting_gives_one_line_error_with_remedy(tmp_path: Path, text: str, complaint: str):
    said = refusal(tmp_path, text)
    assert said.startswith(f"{tmp_path / 'qm.toml'}: ")
    assert complaint in said


def user(certificates: str = "[]", key: str = "") -> str:
    return (
        "[security]\nfolder = 'keys'\n[[security.users]]\nname = 'a'\nsid = 'S-1-1-0'\n"
        f"certificates = {certificates}\n{key}"
    )


@pytest.mark.parametrize("name", ["../secret.pem", "/etc/passwd", "sub/x.pem", "..", "link.pem"])
def test_security_settings_read_no_file_outside_the_key_folder(tmp_path: Path, name: str):
    (tmp_path / "secret.pem").write_text("secret", encoding="utf-8")
    (tmp_path / "keys" / "sub").mkdir(parents=True)
    (tmp_path / "keys" / "link.pem").symlink_to(tmp_path / "secret.pem")
    said = refusal(tmp_path, user(f"['{name}']"))
    assert f"{name!r} is not a file of " in said
    assert "put it there and give only its name" in said


def test_files_without_usable_key_or_certificate_are_named(tmp_path: Path, certificate: bytes):
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "text.pem").write_text("no key", encoding="utf-8")
    (keys / "large.pem").write_bytes(bytes((1 << 20) + 1))
    pem = x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM)
    (keys / "good.pem").write_bytes(pem)
    write_pem(keys / "curve.pem", ec.generate_private_key(ec.SECP256R1()))
    assert "text.pem is not an X.509 certificate in PEM" in refusal(tmp_path, user("['text.pem']"))
    assert "none.pem cannot be read: No such file" in refusal(tmp_path, user("['none.pem']"))
    assert "too large for a key" in refusal(tmp_path, user("['large.pem']"))
    assert "text.pem is not a private key in PEM" in refusal(tmp_path, user("['good.pem']", "key = 'text.pem'"))
    assert "curve.pem is not an RSA key" in refusal(tmp_path, user("['good.pem']", "key = 'curve.pem'"))
    write_pem(keys / "rsa.pem", generate_rsa_key(512, SeededEntropy("k")))
    assert "key = 'rsa.pem' needs a certificate" in refusal(tmp_path, user("[]", "key = 'rsa.pem'"))


def test_key_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "keys").write_text("a file", encoding="utf-8")
    said = refusal(tmp_path, GENERATED)
    assert "[security] generate: " in said
    assert "cannot be written: " in said
