"""Converts the security attributes of a message between their forms in commands, in the control channel and in the
abstract data model.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from reference_qm.codec import FormatError
from reference_qm.core.arguments import convert_argument_word
from reference_qm.core.errors import CommandError
from reference_qm.security import (
    SENDER_TYPE_NONE,
    SENDER_TYPE_QUEUE_MANAGER,
    SENDER_TYPE_SID,
    EncryptionAlgorithm,
    HashAlgorithm,
    MessageSecurity,
    PrivacyLevel,
    Sid,
    SignatureType,
    UserAccount,
)
from reference_qm.surface.commands import SendMessage

NO_SENDER_WORD, QUEUE_MANAGER_SENDER_WORD = "none", "queue_manager"
"""The values of the argument ``sender`` of a command that have a special meaning and are not names of accounts."""
_SIGNATURE_TYPE_BY_NAME: Mapping[str, int] = {"none": 0} | {level.name.lower(): level for level in SignatureType}
_PRIVACY_LEVEL_BY_NAME: Mapping[str, int] = {level.name.lower(): level for level in PrivacyLevel}
_HASH_ALGORITHM_BY_NAME: Mapping[str, int] = {one.name.lower(): one for one in HashAlgorithm}
_ENCRYPTION_ALGORITHM_BY_NAME: Mapping[str, int] = {one.name.lower(): one for one in EncryptionAlgorithm}
_SENDER_TYPE_BY_NAME: Mapping[str, int] = {
    "none": SENDER_TYPE_NONE,
    "sid": SENDER_TYPE_SID,
    QUEUE_MANAGER_SENDER_WORD: SENDER_TYPE_QUEUE_MANAGER,
}


def parse_requested_security(
    request: SendMessage,
    accounts: tuple[UserAccount, ...],
    own: UUID,
    default_hash_algorithm: HashAlgorithm = HashAlgorithm.SHA512,
) -> MessageSecurity | None:
    """Return the security attributes that a command requests, or None if it requests none. Raises CommandError for
    an invalid value.

    Spec: MS-MQDMPR 3.1.1.12. The sender is the current user, which is the first configured account. If no account
    is configured, the sender is the queue manager, whose identifier is ``own``.
    """
    level = convert_argument_word("authentication_level", request.authentication_level, _SIGNATURE_TYPE_BY_NAME)
    privacy = convert_argument_word("privacy_level", request.privacy_level, _PRIVACY_LEVEL_BY_NAME)
    named = request.hash_algorithm
    algorithm = (
        default_hash_algorithm
        if named is None
        else convert_argument_word("hash_algorithm", named, _HASH_ALGORITHM_BY_NAME)
    )
    if not level and not privacy and request.sender is None:
        return None
    sender = request.sender or (accounts[0].name if accounts else QUEUE_MANAGER_SENDER_WORD)
    kind, identifier = SENDER_TYPE_NONE, b""
    if sender == QUEUE_MANAGER_SENDER_WORD:
        kind, identifier = SENDER_TYPE_QUEUE_MANAGER, own.bytes_le
    elif sender != NO_SENDER_WORD:
        kind, identifier = SENDER_TYPE_SID, find_account("sender", sender, accounts).SecurityIdentifier.build()
    certificate = b""
    if level:
        signer = request.certificate or (
            sender if kind == SENDER_TYPE_SID else accounts[0].name if accounts else sender
        )
        account = find_account("certificate", signer, accounts)
        if account.key is None or not account.certificates:
            raise CommandError(f"the account {account.name!a} has no certificate with a local private key")
        certificate = account.certificates[0]
    return MessageSecurity(
        PrivacyLevel=privacy,
        AuthenticationLevel=level,
        HashAlgorithm=algorithm,
        SenderIdentifierType=kind,
        SenderIdentifier=identifier,
        SenderCertificate=certificate,
    )


def describe_security(security: MessageSecurity) -> dict[str, Any]:
    """Return a JSON-ready description of the security attributes of a message. A value without a name is shown as
    its number.
    """
    return {
        "authentication_level": _find_name_in_table(security.AuthenticationLevel, _SIGNATURE_TYPE_BY_NAME),
        "hash_algorithm": _find_name_in_table(security.HashAlgorithm, _HASH_ALGORITHM_BY_NAME),
        "privacy_level": _find_name_in_table(security.PrivacyLevel, _PRIVACY_LEVEL_BY_NAME),
        "encryption_algorithm": _find_name_in_table(security.EncryptionAlgorithm, _ENCRYPTION_ALGORITHM_BY_NAME),
        "sender_type": _find_name_in_table(security.SenderIdentifierType, _SENDER_TYPE_BY_NAME),
        "sender": _format_sender_identity(security),
        "certificate_base64": base64.b64encode(security.SenderCertificate).decode(),
        "provider": security.AuthenticationProviderName or None,
    }


def _format_sender_identity(security: MessageSecurity) -> str | None:
    """Return SenderIdentifier as text: a SID in the form S-1-..., a queue manager as its GUID, and any other value
    in hexadecimal digits.
    """
    identifier = security.SenderIdentifier
    if not identifier:
        return None
    try:
        if security.SenderIdentifierType == SENDER_TYPE_QUEUE_MANAGER:
            return str(UUID(bytes_le=identifier))
        return str(Sid.parse(identifier))
    except (FormatError, ValueError):
        return identifier.hex()


def find_account(argument: str, name: str, accounts: tuple[UserAccount, ...]) -> UserAccount:
    """Return the account with the given name or SID; raise CommandError, whose message contains the name of the
    argument, if there is no such account.
    """
    for account in accounts:
        if name in (account.name, str(account.SecurityIdentifier)):
            return account
    names = [account.name for account in accounts]
    raise CommandError(f"{argument}: {name!a} is not a known account; known: {', '.join(names) or 'none'}")


def _find_name_in_table(value: int, table: Mapping[str, int]) -> str:
    return next((name for name, known in table.items() if known == value), f"0x{value:X}")
