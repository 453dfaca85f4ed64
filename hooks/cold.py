"""The cold start of `decurion hook`: nothing loaded that is not needed, nothing taken down in good order.

Finding, opening and checking some 60 modules one by one costs 7 ms of every tool call, so their compiled code stands
together in one file, the bundle, beside Python's own `.pyc` files and under the same conditions: an entry counts only
while its source has the same time and size, in this very Python. It is written by the first call that had to do
without; where the folder cannot be written, nothing is lost but time.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any, NoReturn

__all__ = ("import_from_bundle", "renew_bundle", "run")

_PACKAGE = "decurion.hooks"
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PATH = os.path.join(_FOLDER, "__pycache__", f"bundle.{sys.implementation.cache_tag}")

_Spec: Any = __spec__.__class__
_Entry = tuple[str, bool, int, int, int, int, bytes]
"""Path of the source below the package, whether it is a package, its time in ns and size; where its code stands: offset,
length, hash.

The file is the hash and the length of the index, the index, and the marshalled code of all modules: one read for the
index, one for each module that this call needs.
"""

_REFUSED = 2
_STDERR = 2
_HASH_KEY = 0
_WORD = 8


def run() -> NoReturn:
    """Be the hook program: answer, and end the process."""
    import gc

    # Neither garbage collection nor an orderly end is worth their 8 ms to a process that lives for 40.
    gc.disable()
    status = _REFUSED
    try:
        import_from_bundle()
        from .program import main

        status = main()
        renew_bundle()
    except BaseException as error:  # noqa: BLE001 - a guard that cannot even start, for whatever reason, refuses
        text = f"decurion cannot start, so the call does not run ({type(error).__name__}: {error})\n"
        os.write(_STDERR, text.encode("utf-8", "backslashreplace"))
    finally:
        os._exit(status)


class _BundleImporter:
    """Finds and loads modules from the bundle; whatever is not in it, or is not current, is left to Python."""

    def __init__(self, file: int, entries: Mapping[str, _Entry], start: int) -> None:
        self.entries = entries
        self._file, self._start = file, start
        self._ready: dict[str, bytes] = {}
        self.stale: set[str] = set()

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Give the spec of a module in the bundle, as a meta path finder does."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        source, is_package, time, size, *_place = entry
        path = os.path.join(_FOLDER, source)
        code = self.code(name)
        if code is None or not _is_current(path, time, size):
            self.stale.add(name)
            return None
        self._ready[name] = code
        spec = _Spec(name, self, origin=path, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(path)]
        return spec

    def create_module(self, _spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code."""
        exec(marshal.loads(self._ready.pop(module.__name__)), module.__dict__)  # noqa: S102, S302 - as any import does

    def code(self, name: str) -> bytes | None:
        """Give the marshalled code of a module that is in the bundle; None where it is damaged."""
        offset, length, digest = self.entries[name][-3:]
        code = os.pread(self._file, length, self._start + offset)
        return code if _imp.source_hash(_HASH_KEY, code) == digest else None


def import_from_bundle() -> None:
    """Take what is imported from now on out of the bundle, as far as it is there and current."""
    try:
        file = os.open(_PATH, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        head = os.pread(file, 2 * _WORD, 0)
        length = int.from_bytes(head[_WORD:], "big")
        index = os.pread(file, min(length, os.fstat(file).st_size), 2 * _WORD)
        if _is_ours(file) and _imp.source_hash(_HASH_KEY, index) == head[:_WORD]:
            entries = marshal.loads(index)  # noqa: S302 - as trustworthy as the .pyc files around it
            sys.meta_path.insert(0, _BundleImporter(file, entries, 2 * _WORD + length))
    except (OSError, ValueError, EOFError, TypeError):
        return


def renew_bundle() -> None:
    """Write the bundle anew if this process had to import something that was not in it; never fails."""
    importer = next((one for one in sys.meta_path if isinstance(one, _BundleImporter)), None)
    known = {} if importer is None else dict(importer.entries)
    for name in () if importer is None else importer.stale:
        del known[name]
    missing = [name for name in sys.modules if name.startswith(_PACKAGE) and name not in known]
    if not missing:
        return
    try:
        found = {
            name: (entry[:4], code)
            for name, entry in known.items()
            if importer and (code := importer.code(name))
        }
        found |= {name: entry for name in missing if (entry := _entry(sys.modules[name]))}
        _write(found)
    except (OSError, ValueError):
        return


def _write(found: Mapping[str, tuple[tuple[str, bool, int, int], bytes]]) -> None:
    offset = 0
    entries: dict[str, _Entry] = {}
    for name, (about, code) in found.items():
        entries[name] = (*about, offset, len(code), _imp.source_hash(_HASH_KEY, code))
        offset += len(code)
    index = marshal.dumps(entries)
    draft = f"{_PATH}.{os.getpid()}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with open(descriptor, "wb") as file:
        file.write(_imp.source_hash(_HASH_KEY, index) + len(index).to_bytes(_WORD, "big") + index)
        file.writelines(code for _about, code in found.values())
    os.replace(draft, _PATH)


def _entry(module: ModuleType) -> tuple[tuple[str, bool, int, int], bytes] | None:
    spec: Any = module.__spec__
    if spec is None or not isinstance(spec.origin, str) or not spec.origin.startswith(_FOLDER + os.sep):
        return None
    about = os.stat(spec.origin)
    code = marshal.dumps(spec.loader.get_code(module.__name__))
    is_package = spec.submodule_search_locations is not None
    return (spec.origin[len(_FOLDER) + 1 :], is_package, about.st_mtime_ns, about.st_size), code


def _is_current(path: str, time: int, size: int) -> bool:
    try:
        about = os.stat(path)
    except OSError:
        return False
    return about.st_mtime_ns == time and about.st_size == size


def _is_ours(descriptor: int) -> bool:
    """Tell whether the file belongs to the owner of the code or to this user, and nobody else may write it."""
    about = os.fstat(descriptor)
    return about.st_uid in {os.stat(__file__).st_uid, os.getuid()} and not about.st_mode & 0o022
