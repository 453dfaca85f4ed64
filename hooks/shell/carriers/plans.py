"""terraform and kin: a plan that destroys, saved by one command, is what a later one applies."""

from __future__ import annotations

from ...frozen import replace
from ..events import ExecEvent, literal
from ..folders import folders_named
from ..machine import Frame, Machine, Outcome, State
from ..options import values_of
from ..redirects import content_of, put_file
from ..values import unknown

_DESTROYS = frozenset({"-destroy", "--destroy"})


def run(m: Machine, st: State, fr: Frame, event: ExecEvent) -> Outcome | None:
    """`plan -destroy -out=p` leaves a plan; `apply p` counts as `apply -destroy`."""
    del fr
    words = event.words
    here = st.fork()
    for folder in values_of(event.argv, "", "chdir"):
        here.cwds, here.fallback = folders_named(m, here, folder), ()
    if "plan" in words and _DESTROYS.intersection(words):
        for file in values_of(event.argv, "", "out"):
            put_file(m, here, file, unknown("a plan that destroys", (event,)))
        st.take_files(here)
    if "apply" in words:
        known = [content_of(m, here, value) for value in event.argv]
        if any(text is not None and _is_plan(text.sources) for text in known):
            m.emit(replace(event, argv=(*event.argv, literal("-destroy"))))
    return None


def _is_plan(sources: tuple[ExecEvent, ...]) -> bool:
    return any("plan" in event.words and _DESTROYS.intersection(event.words) for event in sources)
