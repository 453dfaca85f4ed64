"""What to do about a log that cannot be written; loaded only then."""

from __future__ import annotations

import errno

from ..errors import AuditError


def cannot(verb: str, path: str, error: OSError) -> AuditError:
    """Give the error to raise: what failed, why, and the remedy."""
    remedies = {
        errno.ENOSPC: "free some disk space",
        errno.EDQUOT: "free some of your quota",
        errno.EFBIG: "raise the file size limit (ulimit -f)",
        errno.EACCES: "set DECURION_STATE_DIR to a folder you may write to",
        errno.EPERM: "set DECURION_STATE_DIR to a folder you may write to",
        errno.EROFS: "set DECURION_STATE_DIR to a folder you may write to",
        errno.ELOOP: "a link stands where the log should be; remove it",
    }
    remedy = remedies.get(error.errno or 0, "nothing runs that cannot be recorded")
    return AuditError(f"cannot {verb} the audit log {path}: {error.strerror or error}; {remedy}")
