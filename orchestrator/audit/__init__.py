"""Reading the log: find it, filter it, sum it up, prove it, hand it on."""

from __future__ import annotations
