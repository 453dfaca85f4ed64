"""Filters on known text: decoders, tr, cut, head and so on. Each takes the arguments and the input."""

from __future__ import annotations

import re

from .options import has, operands, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .events import Value

    Args = tuple[Value, ...]
    Filter = Callable[[Args, str], str | None]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _rev(_args: Args, text: str) -> str:
    return "".join(line[::-1] + "\n" for line in text.splitlines())


def _base64(args: Args, text: str) -> str:
    import base64

    if has(args, "dD", "decode"):
        clean = re.sub(r"[^A-Za-z0-9+/=_-]", "", text).replace("-", "+").replace("_", "/").rstrip("=")
        return _text(base64.b64decode(clean + "=" * (-len(clean) % 4)))
    return base64.b64encode(_bytes(text)).decode() + "\n"


def _base32(args: Args, text: str) -> str:
    import base64

    if has(args, "dD", "decode"):
        return _text(base64.b32decode(re.sub(r"\s", "", text).upper()))
    return base64.b32encode(_bytes(text)).decode() + "\n"


def _xxd(args: Args, text: str) -> str | None:
    flags = "".join(value.text or "" for value in args if (value.text or "").startswith("-"))
    if "r" in flags:
        if "p" in flags:
            return _text(bytes.fromhex("".join(re.findall(r"[0-9a-fA-F]{2}", re.sub(r"\s", "", text)))))
        rows = re.findall(r"(?m)^[0-9a-fA-F]+:\s*((?:[0-9a-fA-F]{2,4} )+)", text)
        return _text(bytes.fromhex("".join(rows)))
    return _bytes(text).hex() + "\n" if "p" in flags else None


def _openssl(args: Args, text: str) -> str | None:
    words = [value.text or "" for value in args]
    encoded = "base64" in words or "-base64" in words or "-a" in words
    if not encoded or any(word.startswith(("-aes", "-des", "-k", "-pass", "-K")) for word in words):
        return None
    import base64

    if "-d" in words:
        return _text(base64.b64decode(re.sub(r"\s", "", text)))
    return base64.b64encode(_bytes(text)).decode() + "\n"


def _gunzip(args: Args, text: str) -> str | None:
    import zlib

    if not has(args, "dc", "decompress", "stdout") and args:
        return None
    try:
        return _text(zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(_bytes(text), 1 << 18))
    except zlib.error:
        return None


def _tr_set(source: str) -> str:
    from . import quotes

    classes = {
        "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "lower": "abcdefghijklmnopqrstuvwxyz",
        "digit": "0123456789",
    }
    classes["alpha"] = classes["upper"] + classes["lower"]
    classes["alnum"] = classes["digit"] + classes["alpha"]
    classes["space"] = " \t\n\v\f\r"
    source = re.sub(r"\[:(\w+):\]", lambda found: classes.get(found[1], ""), quotes.backslash(source))
    return re.sub(r"([\s\S])-([\s\S])", _tr_range, source)


def _tr_range(found: re.Match[str]) -> str:
    return "".join(chr(code) for code in range(ord(found[1]), ord(found[2]) + 1))


def _tr(args: Args, text: str) -> str | None:
    sets = [_tr_set(value.text or "") for value in operands(args)]
    if not sets:
        return None
    complement = has(args, "cC", "complement")
    if has(args, "d", "delete"):
        kept = "".join(char for char in text if (char in sets[0]) == complement)
        return _squeezed(kept, sets[1]) if has(args, "s") and len(sets) > 1 else kept
    if len(sets) == 1:
        return _squeezed(text, sets[0]) if has(args, "s", "squeeze-repeats") else None
    if complement:
        return "".join(char if char in sets[0] else sets[1][-1:] for char in text)
    target = sets[1].ljust(len(sets[0]), sets[1][-1:]) if sets[1] else sets[0]
    changed = text.translate({ord(a): b for a, b in reversed(list(zip(sets[0], target, strict=False)))})
    return _squeezed(changed, sets[1]) if has(args, "s") else changed


def _squeezed(text: str, chars: str) -> str:
    return re.sub(f"([{re.escape(chars)}])\\1+", r"\1", text) if chars else text


def _count(args: Args, default: int) -> int:
    for value in args:
        if re.fullmatch(r"-\d+", value.text or ""):
            return int((value.text or "-0")[1:])
    found = next(values_of(args, "n", "lines"), None)
    return int(found.text) if found is not None and found.text else default


def _head(args: Args, text: str) -> str:
    size = next(values_of(args, "c", "bytes"), None)
    if size is not None and size.text:
        return text[: int(size.text)]
    count = _count(args, 10)
    return "".join(text.splitlines(keepends=True)[:count])


def _tail(args: Args, text: str) -> str:
    size = next(values_of(args, "c", "bytes"), None)
    if size is not None and size.text:
        return text[int(size.text) - 1 :] if size.text.startswith("+") else text[-int(size.text) :]
    found = next(values_of(args, "n", "lines"), None)
    rows = text.splitlines(keepends=True)
    if found is not None and (found.text or "").startswith("+"):
        return "".join(rows[int(found.text or "1") - 1 :])
    count = abs(_count(args, 10))
    return "".join(rows[-count:] if count else [])


def _cut(args: Args, text: str) -> str | None:
    chosen = next(values_of(args, "f", "fields"), None)
    characters = next(values_of(args, "c", "characters"), None) or next(values_of(args, "b", "bytes"), None)
    delimiter = next((value.text for value in values_of(args, "d", "delimiter")), "\t") or "\t"
    wanted = chosen or characters
    spec = wanted.text if wanted else None
    if not spec:
        return None
    out = ""
    for row in text.splitlines():
        pieces = row.split(delimiter) if chosen else list(row)
        kept = [piece for index, piece in enumerate(pieces, 1) if _listed(spec, index)]
        out += (delimiter if chosen else "").join(kept) + "\n"
    return out


def _listed(spec: str, index: int) -> bool:
    for item in spec.split(","):
        low, dash, high = item.partition("-")
        if not dash and int(low) == index:
            return True
        if dash and int(low or 1) <= index <= (int(high) if high else index):
            return True
    return False


def _sort(args: Args, text: str) -> str | None:
    if has(args, "nkthVgRMo"):
        return None
    rows = sorted(text.splitlines(), reverse=has(args, "r", "reverse"))
    return "".join(row + "\n" for row in (dict.fromkeys(rows) if has(args, "u", "unique") else rows))


def _uniq(args: Args, text: str) -> str | None:
    if args:
        return None
    rows = text.splitlines()
    return "".join(row + "\n" for index, row in enumerate(rows) if not index or rows[index - 1] != row)


def _tac(_args: Args, text: str) -> str:
    return "".join(row + "\n" for row in reversed(text.splitlines()))


def _paste(args: Args, text: str) -> str | None:
    if not has(args, "s", "serial"):
        return None
    delimiter = next((value.text for value in values_of(args, "d", "delimiters")), "\t")
    return (delimiter or "").replace("\\0", "").join(text.splitlines()) + "\n"


def _same(_args: Args, text: str) -> str:
    return text


FILTERS: dict[str, tuple[Filter, str]] = {
    "rev": (_rev, ""),
    "base64": (_base64, "w"),
    "base32": (_base32, "w"),
    "xxd": (_xxd, "lscg"),
    "openssl": (_openssl, ""),
    "gunzip": (lambda _args, text: _gunzip((), text), ""),
    "zcat": (lambda _args, text: _gunzip((), text), ""),
    "gzip": (_gunzip, ""),
    "tr": (_tr, ""),
    "head": (_head, "nc"),
    "tail": (_tail, "nc"),
    "cut": (_cut, "dfcb"),
    "sort": (_sort, "kt"),
    "uniq": (_uniq, ""),
    "tac": (_tac, ""),
    "paste": (_paste, "d"),
    "fold": (_same, "w"),
}
"""Program: its filter, and its short options that take a value (so that what follows is not read as a file)."""
