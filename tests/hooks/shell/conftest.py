"""Places and programs that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from decurion.hooks.shell import Places, Reading, read_command

PLACES = Places("/home/dev/app", "/home/dev/app", "/home/dev", "dev")
GUARDED = frozenset(
    "rm rmdir dd mkfs shred git sudo su doas chmod chown kill pkill killall reboot shutdown halt poweroff systemctl docker"
    " kubectl terraform npm curl psql crontab iptables rimraf".split()
)


@pytest.fixture
def read() -> Callable[[str], Reading]:
    """Read a command in the folder `app` of user `dev`."""
    return lambda text: read_command(text, PLACES, GUARDED)
