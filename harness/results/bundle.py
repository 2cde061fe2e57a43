"""Write and read the file of a certificate. The file consists of a signed line, and of a zip file with a run folder
and the certificate's statement.

The signature (Ed25519) covers the part of the line before the signature and the SHA-512 of all bytes after the
line, so that every change of the file is detected. Limits on sizes, numbers of files and names are checked first,
because the input is not trusted.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from harness.errors import MqconformError, UsageError

_BUNDLE_MAGIC = b"mqconform-certificate 1 ed25519 "
_BUNDLE_FIRST_LINE_PATTERN = re.compile(
    re.escape(_BUNDLE_MAGIC) + rb"(?P<key>[0-9a-f]{64}) (?P<signature>[0-9a-f]{128})\n"
)
_BUNDLE_FIRST_LINE_BYTES = len(_BUNDLE_MAGIC) + 64 + 1 + 128 + 1
MAX_BUNDLE_FILES = 20_000
MAX_UNPACKED_BYTES = 4 * 2**30
"""int bytes: the maximum total size of the unpacked files of a bundle."""
MAX_COMPRESSION_RATIO = 200
"""The maximum accepted ratio of unpacked size to packed size. Captures of a single system compress to about a tenth of
their size.
"""
_MEMBER_NAME_PATTERN = re.compile(r"[A-Za-z0-9._\-]+(/[A-Za-z0-9._\-]+)?")
_CHUNK_BYTES = 1 << 20
_DATE_OF_BUNDLED_FILES = (1980, 1, 1, 0, 0, 0)
"""The modification time of every file in a bundle. It is constant, so that the bytes of a bundle depend only on its
content.
"""


class InvalidCertificateFile(MqconformError):
    """Raised when a file is not a certificate, or was changed after it was signed."""


class BundleFile(NamedTuple):
    """A file of a bundle: its length in bytes, and its SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle with a valid signature. ``key``: the public key that verified the signature, in hexadecimal digits.
    ``folder``: the unpacked files.
    """

    key: str
    folder: Path
    files_by_name: dict[str, BundleFile]


def read_private_key(path: Path, password: bytes | None) -> Ed25519PrivateKey:
    """Read a private key (PEM); raise UsageError, which names the error, for an unusable file."""
    try:
        key = load_pem_private_key(path.read_bytes(), password)
    except OSError as error:
        raise UsageError(f"{path}: cannot read the key: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(
            f"{path} is not a readable private key ({error}); `openssl genpkey -algorithm ed25519` creates one; "
            "set MQCONFORM_KEY_PASSWORD to its password"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is not an Ed25519 key; `openssl genpkey -algorithm ed25519` creates one")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key (PEM); raise UsageError, which names the error, for an unusable file."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot read the key: {error.strerror}") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} is not a readable public key; `openssl pkey -in KEY -pubout` writes one") from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path} is not an Ed25519 key; certificates are signed with Ed25519")
    return key


def measure_size_and_sha256_of_file(path: Path) -> BundleFile:
    """Return the length and the SHA-256 of a file."""
    with path.open("rb") as file:
        return BundleFile(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def write_bundle(path: Path, files: Iterable[tuple[str, Path]], key: Ed25519PrivateKey) -> None:
    """Write a signed bundle that contains the given files under their names in the bundle. An existing file at ``path``
    is replaced only when the bundle is complete.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("w+b") as file:
            file.write(bytes(_BUNDLE_FIRST_LINE_BYTES))
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                for name, source in files:
                    info = zipfile.ZipInfo(name, _DATE_OF_BUNDLED_FILES)
                    info.compress_type = zipfile.ZIP_DEFLATED
                    with source.open("rb") as content, packed.open(info, "w") as member:
                        while chunk := content.read(_CHUNK_BYTES):
                            member.write(chunk)
            line = _BUNDLE_MAGIC + _format_public_key(key.public_key()) + b" "
            file.seek(_BUNDLE_FIRST_LINE_BYTES)
            signature = key.sign(_build_bytes_to_sign(line, file))
            file.seek(0)
            file.write(line + signature.hex().encode() + b"\n")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):  # for example, the path is not a folder
            new.unlink()
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def open_bundle(path: Path, key: Ed25519PublicKey, folder: Path) -> VerifiedBundle:
    """Verify a bundle with a public key, and unpack the bundle into an empty folder; raise InvalidCertificateFile for
    any error.
    """
    try:
        with path.open("rb") as file:
            found = _BUNDLE_FIRST_LINE_PATTERN.fullmatch(file.read(_BUNDLE_FIRST_LINE_BYTES))
            if found is None:
                raise InvalidCertificateFile(f"{path} is not a certificate: its first line is wrong")
            if found["key"] != _format_public_key(key):
                raise InvalidCertificateFile(
                    f"{path} is signed with the key {found['key'].decode()}, not with the given key"
                )
            try:
                key.verify(
                    bytes.fromhex(found["signature"].decode()),
                    _build_bytes_to_sign(_BUNDLE_MAGIC + found["key"] + b" ", file),
                )
            except InvalidSignature:
                raise InvalidCertificateFile(
                    f"{path} has an invalid signature: the file was changed after it was signed"
                ) from None
            return VerifiedBundle(found["key"].decode(), folder, _unpack_content(path, file, folder))
    except OSError as error:
        raise InvalidCertificateFile(f"{path} cannot be read: {error.strerror or error}") from error


def _format_public_key(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex().encode()


def _build_bytes_to_sign(line: bytes, rest: BinaryIO) -> bytes:
    digest = hashlib.sha512()
    while chunk := rest.read(_CHUNK_BYTES):
        digest.update(chunk)
    return line + digest.digest()


def _unpack_content(path: Path, file: BinaryIO, folder: Path) -> dict[str, BundleFile]:
    """Unpack the signed content of a bundle. All files are checked before any of them is written, because even signed
    content may be invalid.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            infos = packed.infolist()
            _check_bundle_members(path, infos)
            return {info.filename: _unpack_member(packed, info, folder) for info in infos}
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        raise InvalidCertificateFile(f"{path}: the signed content is not a readable zip file: {error}") from error


def _check_bundle_members(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    names = [info.filename for info in infos]
    if len(infos) > MAX_BUNDLE_FILES:
        raise InvalidCertificateFile(f"{path} contains {len(infos)} files; at most {MAX_BUNDLE_FILES} are accepted")
    if len({name.lower() for name in names}) < len(names):
        raise InvalidCertificateFile(f"two files in {path} have the same name")
    for name in names:
        if not _MEMBER_NAME_PATTERN.fullmatch(name) or ".." in PurePosixPath(name).parts or name.startswith("."):
            raise InvalidCertificateFile(
                f"{path}: the file name {name[:80]!a} is not allowed, because it could lead out of the folder"
            )
    size = sum(info.file_size for info in infos)
    if size > MAX_UNPACKED_BYTES or size > MAX_COMPRESSION_RATIO * max(1, path.stat().st_size):
        raise InvalidCertificateFile(f"{path} is too large: its unpacked files have {size:,} bytes")


def _unpack_member(packed: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path) -> BundleFile:
    target = folder / info.filename
    target.parent.mkdir(exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with packed.open(info) as member, target.open("xb") as file:
        while chunk := member.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
    return BundleFile(size, digest.hexdigest())
