"""decurion: one lead agent, isolated subagents, one law for every tool call, one log that proves it."""

__version__ = "0.1.0"
