"""Where an attempt at a piece of work runs: in this process, or in a worker program over a pipe.

Engines run what they are given once and tell what happened; they never try again. `Supervisor` does, and drops
whatever a superseded attempt still says. `runner` is what a session uses of it; nothing is imported here, so that a
session in one process does not pay for workers.
"""
