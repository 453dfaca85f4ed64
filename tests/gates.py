"""Commands for hooks that several calls wait for at once."""

from __future__ import annotations

EIGHT_BEGAN = "touch gate-$$; until [ $(ls | grep -c gate-) -ge 8 ]; do sleep 0.02; done"
"""Ends once eight of it run; one after the other, the first would wait until its time is over."""
