"""Where the person's own folders are: home, configuration, state. Nobody else says so, and none need exist.

On Linux these are what platformdirs answers, without its 40 ms of imports in every hook program. Places that are no
absolute paths count as not set, as the XDG specification asks: nothing of the person's goes into a working folder.
"""

from __future__ import annotations

import os
import sys


def home_dir() -> str:
    """Give the home folder: `HOME`, or where that is none what the system's list of users says, or `/`."""
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        return home
    from pwd import getpwuid

    try:
        return getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user without an entry, as in containers; whoever writes there says what is wrong
        return os.sep


def config_dir() -> str:
    """Give the configuration folder, absolute. `DECURION_CONFIG_DIR` overrides the platform's place."""
    return _folder("CONFIG", ".config")


def state_dir() -> str:
    """Give the folder of logs, keys and caches, absolute. `DECURION_STATE_DIR` overrides the platform's place."""
    return _folder("STATE", ".local/state")


def _folder(kind: str, below_home: str) -> str:
    override = os.environ.get(f"DECURION_{kind}_DIR")
    if override:
        return os.path.abspath(override)
    if not sys.platform.startswith("linux"):
        import platformdirs

        find = platformdirs.user_config_dir if kind == "CONFIG" else platformdirs.user_state_dir
        return find("decurion", appauthor=False)
    base = os.environ.get(f"XDG_{kind}_HOME", "").strip()
    return os.path.join(base if os.path.isabs(base) else os.path.join(home_dir(), below_home), "decurion")


def make_private(folder: str) -> None:
    """Create a folder and its missing parents, readable by their owner only. Folders that exist stay as they are."""
    parent = os.path.dirname(folder)
    if parent and not os.path.isdir(parent):
        make_private(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
