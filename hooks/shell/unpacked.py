"""What comes out of archives and repositories that the same command fetched: files whose names nobody knows yet.

Building such a source (`./configure`, `make`, a package manager) is left to what is said of those; running its own
scripts and programs is running code that nobody has read.
"""

from __future__ import annotations

import posixpath

from ..frozen import frozen
from ..patterns import lazy
from .earlier import told_before
from .events import ANYWHERE, Value, literal
from .machine import Machine, State
from .redirects import content_of, file_at, paths_of
from .values import join, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .events import ExecEvent

FETCHERS = frozenset(
    "curl wget wget2 curlie aria2c axel http https xh fetch lynx nc ncat netcat socat ftp lftp tftp sftp scp aws gsutil"
    " gcloud az gh rclone".split()
)
_BUILDS = frozenset({"configure", "config", "autogen.sh", "gradlew", "mvnw", "manage.py"})
_BUILT = frozenset({".venv", "venv", "node_modules", ".tox", "target", "build", "dist", "_build", "vendor"})
"""Folders that building makes."""
_INSTALLERS = lazy(r"(?:install|setup|bootstrap)(?:[-_.]\w+)*", 2)
_ENDINGS = lazy(r"(?:\.(?:tar|t?gz|tgz|t?bz2?|t?xz|t?zst|zip|7z|rar|jar|run))+$")
_LEAD = lazy(r"[A-Za-z]+")


@frozen
class Unpacked:
    """Files of unknown names that came out below a folder.

    `names` are what the top folder may be called; empty where everything below the folder came out of the archive.
    """

    folder: str
    names: tuple[str, ...]
    content: Value


def unpack(m: Machine, st: State, text: Value | None, archive: str, folder: Value | None) -> None:
    """Remember that an archive with this text came out in a folder, or here, if it was fetched."""
    fetched = tuple(event for event in text.sources if event.name in FETCHERS) if text is not None else ()
    if not fetched:
        return
    content = unknown(f"what {fetched[0].name} fetches", fetched)
    folders = paths_of(m, st, folder) if folder is not None else list(st.cwds + st.fallback)
    here = {m.places.workspace, *st.cwds}
    names = tuple(_names(archive, fetched))
    st.unpacked += tuple(Unpacked(one, names if one in here else (), content) for one in folders)


def _names(archive: str, fetched: tuple[ExecEvent, ...]) -> list[str]:
    addresses = [word for event in fetched for word in event.words if word and "://" in word]
    pieces = [
        archive,
        *(piece for address in addresses for piece in address.partition("://")[2].split("/")[1:]),
    ]
    names = [_ENDINGS.sub("", posixpath.basename(piece)) for piece in pieces]
    leads = [found[0] for name in names if (found := _LEAD.match(name))]
    return [name.lower() for name in (*names, *(lead for lead in leads if len(lead) > 2)) if name]


def clone(m: Machine, st: State, event: ExecEvent, folder: Value) -> None:
    """Remember that a repository of another machine came out in a folder."""
    content = unknown("what git clones", (event,))
    st.unpacked += tuple(Unpacked(path, (), content) for path in paths_of(m, st, folder))


def script_at(m: Machine, st: State, value: Value, language: str = "sh") -> Value | None:
    """The text of a script: as `content_of`, or code that came out of what was fetched, or that was told of before."""
    found = content_of(m, st, value)
    told = told_before(m, value, language) if not st.files or file_at(m, st, value) is None else None
    if told is not None:
        return told if found is None else join((found, literal("\n"), told)) if language == "sh" else found
    if found is not None or not st.unpacked or posixpath.basename(value.suffix) in _BUILDS:
        return found
    if ANYWHERE in st.cwds and not value.prefix.startswith("/"):
        return st.unpacked[-1].content if _INSTALLERS.fullmatch(posixpath.basename(value.suffix)) else None
    paths = [m.places.join(cwd, value.show()) for cwd in (*st.cwds, *st.fallback)]
    return next((one.content for one in st.unpacked for path in paths if _is_from(path, one)), None)


def _is_from(path: str, unpacked: Unpacked) -> bool:
    if not path.startswith(posixpath.join(unpacked.folder, "")):
        return False
    top, *below = posixpath.relpath(path, unpacked.folder).lower().split("/")
    if not unpacked.names:
        return _BUILT.isdisjoint((top, *below))
    if not below:
        return top in unpacked.names or _INSTALLERS.fullmatch(top) is not None
    return any(top.startswith(name) or name.startswith(top) for name in unpacked.names)
