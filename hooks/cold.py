"""The cold start of `decurion hook`: nothing loaded that is not needed, nothing taken down in good order.

Finding, opening and checking some 60 modules one by one costs 7 ms of every tool call, so their compiled code stands
together in one file, the bundle, beside Python's own `.pyc` files and under the same conditions: an entry counts only
while its source has the same time and size, in this very Python. It is written by the first call that had to do
without; where the folder cannot be written, nothing is lost but time.
"""

from __future__ import annotations

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
_Entry = tuple[str, bool, int, int, bytes]
"""Path of the source below the package, whether it is a package, its time in ns and size, its marshalled code."""


def run() -> NoReturn:
    """Be the hook program: answer, and end the process."""
    import gc

    # Neither garbage collection nor an orderly end is worth their 8 ms to a process that lives for 40.
    gc.disable()
    import_from_bundle()
    from .program import main

    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        renew_bundle()
    finally:
        os._exit(status)


class _BundleImporter:
    """Finds and loads modules from the bundle; whatever is not in it, or is not current, is left to Python."""

    def __init__(self, entries: Mapping[str, _Entry]) -> None:
        self.entries = entries
        self.stale: set[str] = set()

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        """Give the spec of a module in the bundle, as a meta path finder does."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        source, is_package, time, size, _code = entry
        path = os.path.join(_FOLDER, source)
        if not _is_current(path, time, size):
            self.stale.add(name)
            return None
        spec = _Spec(name, self, origin=path, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(path)]
        return spec

    def create_module(self, _spec: object) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code."""
        exec(marshal.loads(self.entries[module.__name__][-1]), module.__dict__)  # noqa: S102, S302 - as any import does


def import_from_bundle() -> None:
    """Take what is imported from now on out of the bundle, as far as it is there and current."""
    try:
        with open(_PATH, "rb") as file:
            if not _is_ours(file.fileno()):
                return
            entries = marshal.loads(file.read())  # noqa: S302 - as trustworthy as the .pyc files around it
    except (OSError, ValueError, EOFError, TypeError):
        return
    if isinstance(entries, dict):
        sys.meta_path.insert(0, _BundleImporter(entries))  # pyright: ignore[reportUnknownArgumentType] - it is what was written


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
        known |= {name: entry for name in missing if (entry := _entry(sys.modules[name]))}
        draft = f"{_PATH}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with open(descriptor, "wb") as file:
            file.write(marshal.dumps(known))
        os.replace(draft, _PATH)
    except (OSError, ValueError):
        return


def _entry(module: ModuleType) -> _Entry | None:
    spec: Any = module.__spec__
    if spec is None or not isinstance(spec.origin, str) or not spec.origin.startswith(_FOLDER + os.sep):
        return None
    about = os.stat(spec.origin)
    code = spec.loader.get_code(module.__name__)
    is_package = spec.submodule_search_locations is not None
    return spec.origin[len(_FOLDER) + 1 :], is_package, about.st_mtime_ns, about.st_size, marshal.dumps(code)


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
