"""Reads the table [security] of the TOML file of ``mqconform serve``: keys, users, and the security of queues.

Keys and certificates are PEM files in one folder. The name of a file outside the folder is refused.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from reference_qm.codec import FormatError
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.security import (
    AES_PROVIDER,
    BASE_PROVIDER,
    DEFAULT_QUEUE_SECURITY,
    ENHANCED_PROVIDER,
    KEY_BITS_BY_PROVIDER,
    Ace,
    AceType,
    Acl,
    EncryptionAlgorithm,
    MqdsPublicKeys,
    QueueAccess,
    SecurityConfig,
    SecurityDescriptor,
    SecuritySettings,
    UserAccount,
    build_default_queue_security,
    generate_rsa_key,
)
from reference_qm.shell import toml_values as toml
from reference_qm.shell.toml_values import ConverterByKey, SettingsError
from reference_qm.surface.entropy import Entropy

KEY_FILE_SUFFIX_BY_PROVIDER: Mapping[str, str] = {
    BASE_PROVIDER: "base",
    ENHANCED_PROVIDER: "enhanced",
    AES_PROVIDER: "advanced",
}
"""The file name of each provider's key: ``encryption_base.pem``, ``signing_base.pem`` and so on."""
MAX_KEY_FILE_BYTES = 1 << 20


def _make_list_converter(convert: Callable[[object], Any]) -> toml.TomlValueConverter:
    def convert_list(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError("must be a list")
        return tuple(convert(one) for one in value)

    return convert_list


def _convert_public_keys(value: object) -> MqdsPublicKeys:
    try:
        return MqdsPublicKeys.parse(base64.b64decode(toml.require_string(value), validate=True))
    except (ValueError, FormatError):
        raise ValueError("must be a PublicEncryptionKeyList in base64, as the verb identity returns it") from None


_RIGHT_BY_NAME = {name.removeprefix("MQSEC_").lower(): right for name, right in QueueAccess.__members__.items()}
_CIPHER_CONVERTER = toml.make_choice_converter(
    {algorithm.name.lower(): int(algorithm) for algorithm in EncryptionAlgorithm}
)
_SECURITY_TABLE_CONVERTERS: ConverterByKey = MappingProxyType(
    {
        "folder": toml.require_string,
        "generate": toml.require_boolean,
        "preferred_base": _CIPHER_CONVERTER,
        "preferred_enhanced": _CIPHER_CONVERTER,
        "preferred_advanced": _CIPHER_CONVERTER,
        "send_enhanced_rc2_using_40_bit_keys": toml.require_boolean,
        "reject_enhanced_rc2_using_40_bit_keys": toml.require_boolean,
    }
)
_ELEMENT_BY_SETTING = {
    "preferred_base": "PreferredBaseAlgorithm",
    "preferred_enhanced": "PreferredEnhancedAlgorithm",
    "preferred_advanced": "PreferredAdvancedAlgorithm",
    "send_enhanced_rc2_using_40_bit_keys": "SendEnhancedRC2Using40BitKeys",
    "reject_enhanced_rc2_using_40_bit_keys": "RejectEnhancedRC2Using40BitKeys",
}
"""For each key in [security]: the element of MS-MQQB 3.1.1.3 that it sets."""
_USER_CONVERTERS: ConverterByKey = MappingProxyType(
    {
        "name": toml.require_string,
        "sid": toml.convert_sid,
        "groups": _make_list_converter(toml.convert_sid),
        "certificates": _make_list_converter(toml.require_string),
        "key": toml.require_string,
    }
)
QUEUE_SECURITY_CONVERTERS: ConverterByKey = MappingProxyType(
    {
        "authenticated": toml.require_boolean,
        "privacy": toml.make_choice_converter({level.name.lower(): level for level in PrivacyLevel}),
    }
)
"""The keys of a table [[queues]] that restrict which messages the queue accepts."""


def load_security_settings(tree: object, where: str, base: Path, entropy: Entropy) -> SecurityConfig:
    """Return the settings of the table [security]. ``base``: the folder to which the key ``folder`` of the table is
    relative. Raise SettingsError for an unusable entry.
    """
    place = f"{where}: [security]"
    if not isinstance(tree, dict):
        raise SettingsError(f"{place} must be a table")
    rest = {key: value for key, value in tree.items() if key not in ("users", "remote_keys")}
    values = toml.convert_table(rest, _SECURITY_TABLE_CONVERTERS, place)
    folder = base / values.get("folder", ".")
    settings = SecuritySettings(
        **{_ELEMENT_BY_SETTING[key]: value for key, value in values.items() if key in _ELEMENT_BY_SETTING}
    )
    users = tree.get("users", [])
    if not isinstance(users, list):
        raise SettingsError(f"{where}: [[security.users]] must be a list of tables")
    accounts = tuple(_read_account(user, f"{where}: [[security.users]] {n}", folder) for n, user in enumerate(users, 1))
    for n, account in enumerate(accounts):
        if any(account.name == other.name for other in accounts[:n]):
            raise SettingsError(f"{where}: [[security.users]]: user {account.name!r} is listed twice")
    remote = tree.get("remote_keys", {})
    if not isinstance(remote, dict):
        raise SettingsError(f"{where}: [security.remote_keys] must be a table of GUID = base64")
    spot = f"{where}: [security.remote_keys]"
    if "folder" not in values:
        return SecurityConfig(accounts=accounts, remote_keys=_read_remote_keys(remote, spot), settings=settings)
    make = entropy if values.get("generate", False) else None
    return SecurityConfig(
        _load_private_keys(folder, "encryption", make),
        _load_private_keys(folder, "signing", make),
        accounts,
        _read_remote_keys(remote, spot),
        settings,
    )


def take_queue_security(tree: object, where: str) -> dict[str, Any]:
    """Remove ``owner``, ``allow`` and ``deny`` from the table of a queue, and return the security descriptor that
    they describe.

    Without these keys the descriptor is empty. The descriptor lists denials before permissions. With only an owner,
    the descriptor is that of MS-MQDMPR 3.1.7.1.3.1. Raise SettingsError for an unusable entry.
    """
    if not isinstance(tree, dict) or not tree.keys() & {"owner", "allow", "deny"}:
        return {}
    owner = toml.convert_value(tree.pop("owner"), toml.convert_sid, f"{where} owner") if "owner" in tree else None
    aces: list[Ace] = []
    for key, kind in (("deny", AceType.ACCESS_DENIED), ("allow", AceType.ACCESS_ALLOWED)):
        granted = tree.pop(key, {})
        if not isinstance(granted, dict):
            raise SettingsError(f"{where} {key} must be a table of SID = list of rights")
        for sid, rights in granted.items():
            named = toml.convert_value(
                rights, _make_list_converter(toml.make_choice_converter(_RIGHT_BY_NAME)), f"{where} {key} {sid}"
            )
            trustee = toml.convert_value(sid, toml.convert_sid, f"{where} {key}")
            aces.append(Ace(kind, int(reduce(or_, named, QueueAccess(0))), trustee))
    if not aces and owner is not None:
        return {"security": build_default_queue_security(owner)}
    return {"security": SecurityDescriptor(owner or DEFAULT_QUEUE_SECURITY.Owner, None, Acl(tuple(aces)))}


def _read_account(tree: object, where: str, folder: Path) -> UserAccount:
    values = toml.convert_table(tree, _USER_CONVERTERS, where)
    for name in ("name", "sid"):
        if name not in values:
            raise SettingsError(f"{where}: {name} is missing")
    certificates = tuple(
        _read_certificate(folder, name, f"{where} certificates") for name in values.get("certificates", ())
    )
    key = _read_private_key(folder, values["key"], f"{where} key") if "key" in values else None
    if key is not None and not certificates:
        raise SettingsError(
            f"{where}: key = {values['key']!r} needs a certificate: add it as the first entry of certificates"
        )
    return UserAccount(values["name"], values["sid"], frozenset(values.get("groups", ())), certificates, key)


def _read_remote_keys(tree: dict[str, object], where: str) -> dict[Any, MqdsPublicKeys]:
    return {
        toml.convert_value(name, toml.convert_guid, f"{where} key"): toml.convert_value(
            keys, _convert_public_keys, f"{where} {name}"
        )
        for name, keys in tree.items()
    }


def _load_private_keys(folder: Path, use: str, entropy: Entropy | None) -> dict[str, rsa.RSAPrivateKey]:
    """Return the existing private keys for encryption or signing. If ``entropy`` is given, generate and save the
    missing keys.
    """
    keys: dict[str, rsa.RSAPrivateKey] = {}
    for provider, short in KEY_FILE_SUFFIX_BY_PROVIDER.items():
        name = f"{use}_{short}.pem"
        path = _resolve_path_inside_folder(folder, name, "[security] folder")
        if entropy is not None and not path.exists():
            _write_private_key(path, generate_rsa_key(KEY_BITS_BY_PROVIDER[provider], entropy))
        if path.exists():
            keys[provider] = _read_private_key(folder, name, "[security] folder")
    return keys


def _write_private_key(path: Path, key: rsa.RSAPrivateKey) -> None:
    """Write a new private key to a file that only the user of this process can read."""
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(pem)
    except OSError as error:
        raise SettingsError(f"[security] generate: {path} cannot be written: {error.strerror}") from error


def _read_private_key(folder: Path, name: str, where: str) -> rsa.RSAPrivateKey:
    path = _resolve_path_inside_folder(folder, name, where)
    try:
        key = load_pem_private_key(_read_file(path, where), None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SettingsError(f"{where}: {path} is not a private key in PEM without a password") from error
    if not isinstance(key, rsa.RSAPrivateKey):
        raise SettingsError(f"{where}: {path} is not an RSA key")
    return key


def _read_certificate(folder: Path, name: str, where: str) -> bytes:
    path = _resolve_path_inside_folder(folder, name, where)
    try:
        return x509.load_pem_x509_certificate(_read_file(path, where)).public_bytes(Encoding.DER)
    except ValueError as error:
        raise SettingsError(f"{where}: {path} is not an X.509 certificate in PEM") from error


def _read_file(path: Path, where: str) -> bytes:
    try:
        if path.stat().st_size > MAX_KEY_FILE_BYTES:
            raise SettingsError(f"{where}: {path} is too large for a key or certificate")
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{where}: {path} cannot be read: {error.strerror}") from error


def _resolve_path_inside_folder(folder: Path, name: str, where: str) -> Path:
    """Return the path of a file in the folder. Raise SettingsError for a file outside the folder, even if a link in
    the folder leads to the file.
    """
    path = folder / name
    if Path(name).name != name or path.resolve().parent != folder.resolve():
        raise SettingsError(
            f"{where}: {name!r} is not a file of the folder {folder}: put it there and give only its name"
        )
    return path
