"""Isolated work in git: a private hub, a worktree for each subagent, merging, handing back, undoing.

`Isolation` is the way in. Nothing here writes the user's repository, but for the branches of `hand_back` and the
files of `apply`.
"""

from __future__ import annotations

from .apply import Applied, Undone
from .cleaning import Holding, clean_session, survey_session
from .errors import GitError, NotIsolatable, Overlap
from .handback import Handed
from .integrate import Integrated, Left
from .isolation import Isolation, Options, undo, undoable
from .matrix import Matrix, conflicts_of_claims, matches
from .work import Change, Work
from .workbench import Conflict, Resolve
from .worktree import Worktree

__all__ = (
    "Applied",
    "Change",
    "Conflict",
    "GitError",
    "Handed",
    "Holding",
    "Integrated",
    "Isolation",
    "Left",
    "Matrix",
    "NotIsolatable",
    "Options",
    "Overlap",
    "Resolve",
    "Undone",
    "Work",
    "Worktree",
    "clean_session",
    "conflicts_of_claims",
    "matches",
    "survey_session",
    "undo",
    "undoable",
)
