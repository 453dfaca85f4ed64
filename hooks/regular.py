"""Reading files that others brought along: a link in a checkout may lead to a pipe or a device, which never ends."""

from __future__ import annotations

import errno
import os
import stat

from .errors import ConfigError

LARGEST = 16 << 20
"""No file of settings, rules or definitions has more bytes."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_regular(path: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """Read a whole file.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger; `strerror` says which.
    """
    with open(path, "rb", opener=_open_regular) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest:,} bytes", os.fspath(path))
    return data


def read_text(path: str | os.PathLike[str], largest: int = LARGEST) -> str:
    """Read a text that a person wrote; a byte order mark is no part of it.

    Raises:
        FileNotFoundError: it is not there.
        ConfigError: it cannot be read, is no regular file, is larger, or no UTF-8 text; names it, and the line.
    """
    data = b""
    try:
        data = read_regular(path, largest)
        # The codec that takes the mark off would be one more import of a cold start.
        return data.removeprefix(_BYTE_ORDER_MARK).decode()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(errno.ENOENT, "there is no such file", os.fspath(path)) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", os.fspath(path)) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError("this is not UTF-8 text; save the file as UTF-8", os.fspath(path), line) from None


def _open_regular(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a folder is refused by `open` itself
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file", path)
