"""The two keys of an installation: one for digests of inputs, one (optional) that signs checkpoints.

`audit.key` (32 random bytes, made on first use) keys the digest `input_mac`, so that equal inputs can be matched
without anyone being able to guess an input from its digest. `audit.ed25519` (made by `decurion audit keygen`) is a
PKCS 8 private key; where it stands, checkpoints are signed. Both lie in the state folder, owner-only.
"""

from __future__ import annotations

import os

from ..errors import AuditError
from ..folders import make_private, state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MAC_KEY_FILE = "audit.key"
SIGNING_KEY_FILE = "audit.ed25519"
PUBLIC_KEY_FILE = "audit.ed25519.pub"
MAC_KEY_BYTES = 32
_PUBLIC_KEY_BYTES = 32


def mac_key() -> bytes:
    """Read the key of input digests, made on first use.

    Raises:
        AuditError: it cannot be read, made, or is cut short.
    """
    path = os.path.join(state_dir(), MAC_KEY_FILE)
    try:
        key = _read(path)
        if key is None:
            make_private(os.path.dirname(path))
            _create(path, os.urandom(MAC_KEY_BYTES))
            key = _read(path)
    except OSError as error:
        raise AuditError(f"cannot use the key of input digests {path}: {error.strerror or error}") from error
    if key is None or len(key) != MAC_KEY_BYTES:
        raise AuditError(f"{path} is damaged; remove it, and a new one is made")
    return key


def signing_key_path() -> str:
    """Give the place of the signing key, whether or not there is one."""
    return os.path.join(state_dir(), SIGNING_KEY_FILE)


def generate(folder: str) -> tuple[str, str]:
    """Make a signing key in a folder; give the path of the public key and its id.

    Raises:
        AuditError: there is one already, or it cannot be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    raw = public_bytes(private.public_key())
    path = os.path.join(folder, SIGNING_KEY_FILE)
    public_path = os.path.join(folder, PUBLIC_KEY_FILE)
    try:
        make_private(folder)
        _create(path, secret, exist_ok=False)
        _create(public_path, raw.hex().encode() + b"\n", exist_ok=True)
    except FileExistsError:
        raise AuditError(
            f"{path} exists already; old checkpoints need it, so it is never overwritten"
        ) from None
    except OSError as error:
        raise AuditError(f"cannot write the signing key {path}: {error.strerror or error}") from error
    return public_path, key_id(raw)


def load_private(path: str) -> Ed25519PrivateKey:
    """Read a signing key.

    Raises:
        AuditError: there is none, or it is not an Ed25519 key.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        data = _read(path)
        key = serialization.load_pem_private_key(data or b"", password=None)
    except (OSError, ValueError, TypeError) as error:
        raise AuditError(f"cannot read the signing key {path}: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise AuditError(f"{path} is not an Ed25519 key")
    return key


def load_public(text: str) -> Ed25519PublicKey:
    """Make a public key of 64 hex digits, or of the path of a file that holds them.

    Raises:
        AuditError: it is neither.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    found = text.strip()
    try:
        if os.path.exists(found):
            found = (_read(found) or b"").decode("ascii").strip()
        raw = bytes.fromhex(found)
    except (OSError, ValueError):
        raw = b""
    if len(raw) != _PUBLIC_KEY_BYTES:
        raise AuditError(f"{text}: not a public key (64 hex digits, or a file that holds them)")
    return Ed25519PublicKey.from_public_bytes(raw)


def public_bytes(key: Ed25519PublicKey) -> bytes:
    """Give the 32 bytes of a public key."""
    from cryptography.hazmat.primitives import serialization

    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id(raw: bytes) -> str:
    """Name a public key: the first 16 hex digits of its SHA-256."""
    import hashlib

    return hashlib.sha256(raw).hexdigest()[:16]


def signed_text(session_id: str, seq: int, prev: str) -> bytes:
    """Give what a checkpoint signs: its place in the chain, and with it everything before."""
    return f"decurion audit checkpoint v1\n{session_id}\n{seq}\n{prev}\n".encode("utf-8", "replace")


def _read(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)


def _create(path: str, data: bytes, *, exist_ok: bool = True) -> None:
    """Write a whole owner-only file or none; where another process was faster, keep its file."""
    scratch = f"{path}.{os.getpid()}"
    fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    try:
        os.link(scratch, path)
    except FileExistsError:
        if not exist_ok:
            raise
    finally:
        os.unlink(scratch)
