"""One event as rules look at it: arguments read once, places worked out once."""

from __future__ import annotations

from ..patterns import lazy
from ..shell.events import Places, Reading, Value, all_upstream
from .arguments import Arguments, Grammars, named
from .paths import holds, is_ordinary, spots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.events import ExecEvent, Glob, Hole, Written
    from .paths import PathSets, Spot
    from .pathset import PathSet

_CUTS = "=@:,<"
_UNCUT = lazy(r"-[^=@:,<]?|--[^=@:,<]*|[^-=@:,<][^=@:,<]*")
"""A word of one piece."""
_MANY_CUTS = 32
"""Cuts of one word that are tried with all that stands before and behind them; of more, as of JSON, what is between."""
_MANY_PIECES, _MOST_PIECES = 300, 3000
"""Pieces of words of one command past which only paths are looked at, and past which it is refused: JSON has many."""
_LONGEST_PATH = 4096
"""Characters of a path past which every system refuses it."""
NO_GRAMMARS = Grammars({})
NO_READING = Reading()
NOTHING: frozenset[str] = frozenset()

FINDERS = frozenset({"find", "gfind", "bfs", "fd", "fdfind"})
"""Programs that run others on what they find: where they look stands for it among the arguments."""


WRITES, SETS, REDIRECTS, FED, ELSEWHERE = 1, 2, 4, 8, 16
"""What an event may have: files it writes, variables it sets, redirections, something that feeds it, another machine."""


class Scene:
    """An event with what is worked out about it on demand. `finding` is set where no event itself is at fault."""

    __slots__ = (
        "_arguments",
        "_at_home",
        "_below",
        "_cut",
        "_firsts",
        "_flat",
        "_grammars",
        "_names",
        "_ordinary",
        "_pieces",
        "_spots",
        "_texts",
        "_written",
        "event",
        "finding",
        "places",
        "reading",
        "sets",
    )

    def __init__(
        self,
        event: ExecEvent,
        places: Places,
        sets: PathSets,
        grammars: Grammars,
        reading: Reading = NO_READING,
        *,
        finding: str = "",
    ) -> None:
        self.event, self.places, self.sets = event, places, sets
        self.reading, self.finding = reading, finding
        self._spots: dict[int, tuple[Value, tuple[Spot, ...]]] = {}
        self._texts: list[str] | None = None
        self._flat: tuple[str, list[tuple[str, str]]] | None = None
        self._pieces: tuple[Value, ...] | None = None
        self._below: tuple[bool, list[str]] | None = None
        self._cut: dict[int, tuple[Value, tuple[Value, ...]]] = {}
        self._names: frozenset[str] | None = None
        self._at_home: bool | None = None
        self._ordinary = False
        self._written: tuple[Written, ...] | None = None
        self._firsts: frozenset[str] | None = None
        self._arguments: Arguments | None = None
        self._grammars = grammars

    @property
    def given(self) -> int:
        """Which of `WRITES` and its like the event has: most have none, and most rules need one."""
        event = self.event
        given = WRITES if self.reading.writes and self._own_writes else 0
        if event.env or event.redirects or event.remote:
            given |= (SETS if event.env else 0) | (REDIRECTS if event.redirects else 0)
            given |= ELSEWHERE if event.remote else 0
        if event.stdin.upstream or event.stdin.text is not None or event.redirects or event.via:
            return given | FED
        for value in event.argv:
            if value.text is None:
                return given | FED
        return given

    @property
    def arguments(self) -> Arguments:
        """The arguments, read by the program's grammar."""
        if self._arguments is None:
            self._arguments = self._grammars.read(self.event)
        return self._arguments

    @property
    def first(self) -> str | None:
        """The first word that is no option, where it is known at a glance."""
        text = self.event.argv[0].text if self.event.argv else None
        return text if text is not None and not text.startswith("-") else None

    @property
    def has_options(self) -> bool:
        """Tell whether any argument looks like an option."""
        return "-" in [value.prefix[:1] for value in self.event.argv]

    @property
    def flat_texts(self) -> tuple[str, list[tuple[str, str]]]:
        """All of `texts` in lower case; each on one line, as it is and in lower case."""
        if self._flat is None:
            flat = [" ".join(text.split()) for text in self.texts]
            pairs = [(text, text.lower()) for text in flat]
            self._flat = "\n".join([lowered for _, lowered in pairs]), pairs
        return self._flat

    @property
    def firsts(self) -> frozenset[str]:
        """What the first word that is no option may be; empty where it may be anything."""
        if self._firsts is None:
            texts: list[str | None] = []
            for word in self.arguments.words:
                texts.append(word.value.text)
                if not word.maybe:
                    break
            self._firsts = (
                frozenset(text for text in texts if text is not None) if None not in texts else NOTHING
            )
        return self._firsts

    @property
    def upstream(self) -> frozenset[str]:
        """The names of all programs whose output is read, or expanded into the arguments; a search that runs this too."""
        if self._names is None:
            names = {event.name for event in self.upstream_events if event.name}
            self._names = FINDERS.intersection(self.event.via) | names
        return self._names

    @property
    def upstream_events(self) -> tuple[ExecEvent, ...]:
        """All commands whose output is read, or expanded into the arguments."""
        text = self.event.stdin.text
        return tuple(all_upstream([*self.event.feeders, *(text.sources if text is not None else ())]))

    def of(self, event: ExecEvent) -> Scene:
        """Give the scene of another event of the same reading."""
        return Scene(event, self.places, self.sets, NO_GRAMMARS, self.reading)

    @property
    def texts(self) -> list[str]:
        """Every argument, option value and known input as text; an unknown piece reads as `x`."""
        if self._texts is None:
            values = list(self.event.argv)
            if self.has_options:
                values += [option.value for option in self.arguments.options if option.value is not None]
            if self.event.stdin.text is not None:
                values.append(self.event.stdin.text)
            self._texts = list(dict.fromkeys(loose_text(value) for value in values))
            self._texts += self._files_named()
        return self._texts

    def _files_named(self) -> list[str]:
        """Give the contents of files that the same command writes and this event names (`psql -f x.sql`)."""
        if not self.reading.writes:
            return []
        named = {spot for value in (*self.event.argv, *self.pieces) for spot in self.spots(value)}
        return [
            loose_text(written.content)
            for written in self.reading.writes
            if written.content is not None and any(s in named for s in self.spots(written.path))
        ]

    @property
    def written(self) -> tuple[Value, ...]:
        """The files that this event itself writes, and those that nobody in particular does."""
        return tuple(one.path for one in self._own_writes)

    @property
    def replaced(self) -> tuple[Value, ...]:
        """Those among the written files whose content before is lost."""
        return tuple(one.path for one in self._own_writes if not one.append)

    @property
    def _own_writes(self) -> tuple[Written, ...]:
        if self._written is None:
            event, writes = self.event, self.reading.writes
            # Comparing events goes deep, so only with those of the same piece of text.
            self._written = tuple(
                one
                for one in writes
                if one.by is None or one.by is event or (one.by.segment == event.segment and one.by == event)
            )
        return self._written

    def spots(self, value: Value) -> tuple[Spot, ...]:
        """Every place a word may point to."""
        # By identity, for hashing a word costs more than most answers; the word kept beside keeps its identity its own.
        found = self._spots.get(id(value))
        if found is None:
            found = self._spots[id(value)] = value, spots(value, self.event, self.places)
        return found[1]

    def holds(self, predicate: str, value: Value) -> bool:
        """Tell whether a path predicate may hold for a word."""
        inside = self._inside(value)
        if inside is not None:
            paths = self.sets.get(predicate)
            if paths is not None:
                if len(value.prefix) > _LONGEST_PATH or paths.ignores(inside, self.places):
                    return False
            elif self._ordinary and len(inside) == 1 and predicate != "any" and inside[0] != ".git":
                return False
        return any(holds(predicate, spot, self.places, self.sets) for spot in self.spots(value))

    def spares_all(self, predicate: str) -> bool:
        """Tell quickly, for most commands, that no piece of theirs is in a path set."""
        paths = self.sets.get(predicate)
        if paths is None:
            return False
        if self._below is None:
            pieces = [piece for piece in self.pieces if len(piece.prefix) <= _LONGEST_PATH]
            below = [self._inside(piece) for piece in pieces]
            self._below = (None not in below, [name for names in below if names for name in names])
        plain, names = self._below
        return plain and paths.ignores(names, self.places)

    def holds_but(self, predicate: str, spared: str, value: Value) -> bool:
        """Tell whether a path predicate may hold for a place of a word that is not in a path set."""
        return any(
            holds(predicate, spot, self.places, self.sets)
            and not (spot is not None and self.sets[spared].holds(spot, self.places))
            for spot in self.spots(value)
        )

    def _inside(self, value: Value) -> list[str] | None:
        """Give the components of a plain path below the workspace itself: most words are one, and point nowhere else."""
        if self._at_home is None:
            places, cwds = self.places, self.event.cwds
            here = len(cwds) < 2 and places.workspace in (cwds or (places.cwd,))
            self._at_home = here and places.resolve is None and not self.event.mounts
            self._ordinary = is_ordinary(places)
        text = value.text
        if not self._at_home or not text:
            return None
        pieces = text.split("/")
        return None if "" in pieces or "." in pieces or ".." in pieces else pieces

    def in_set(self, paths: PathSet, value: Value) -> bool:
        """Tell whether a word may point into a path set."""
        return any(spot is not None and paths.holds(spot, self.places) for spot in self.spots(value))

    @property
    def pieces(self) -> tuple[Value, ...]:
        """Every argument, and what stands behind a `=`, `@`, `:`, `,` or an option letter in it."""
        if self._pieces is None:
            found: list[Value] = []
            for value in named(self.event.argv):
                found.extend(self.pieces_of(value))
            if len(found) > _MANY_PIECES:
                found = list(dict.fromkeys(found))
            if len(found) > _MOST_PIECES:
                raise TimeoutError(f"it holds more than {_MOST_PIECES} names and values")
            self._pieces = tuple(found)
        return self._pieces

    def pieces_of(self, value: Value) -> tuple[Value, ...]:
        """Give a word and its pieces; of a word with very many, as of JSON, only paths beyond the first ones."""
        if value.text is not None and _UNCUT.fullmatch(value.text):
            return (value,)
        known = self._cut.get(id(value))
        if known is not None:
            return known[1]
        found: dict[Value, None] = {value: None}
        for cut in cuts(value):
            if len(cut.prefix) > _LONGEST_PATH:
                continue
            if len(found) < _MANY_PIECES or not _is_bare(cut):
                found[_at(self.places.home, cut)] = None
        pieces = tuple(found)
        self._cut[id(value)] = value, pieces
        return pieces


def _is_bare(value: Value) -> bool:
    """Tell whether a piece is a text that is no path to anywhere."""
    text = value.text
    return text is not None and "/" not in text and not text.startswith((".", "~"))


def loose_text(value: Value) -> str:
    """Give a word as text for reading what it says: an unknown piece reads as `x`."""
    if value.text is not None:
        return value.text
    return "".join(part if isinstance(part, str) else getattr(part, "pattern", "x") for part in value.parts)


def cuts(value: Value) -> Iterator[Value]:
    """Give what stands behind a `=`, `@`, `:`, `,` or an option letter in a word."""
    first = value.parts[0] if value.parts else ""
    if isinstance(first, str) and len(first) > 2 and first[0] == "-" and first[1] != "-":
        yield Value((first[2:], *value.parts[1:]))
    for index, part in enumerate(value.parts):
        if isinstance(part, str) and any(cut in part for cut in _CUTS):
            yield from _cut_at(value, index, part)


def _cut_at(value: Value, index: int, part: str) -> Iterator[Value]:
    places = [place for place, char in enumerate(part) if char in _CUTS]
    for number, (place, following) in enumerate(zip(places, (*places[1:], None), strict=True)):
        if following is not None:
            yield _value(part[place + 1 : following], ())
        if number < _MANY_CUTS or following is None:
            yield _value(part[place + 1 :], value.parts[index + 1 :])
            yield _value("", (*value.parts[:index], part[:place]))


def _at(home: str, piece: Value) -> Value:
    """Read `~/` behind a key as the home: some shells do, and so do many programs."""
    return _value(home + piece.prefix[1:], piece.parts[1:]) if piece.prefix.startswith("~/") else piece


def _value(head: str, tail: tuple[str | Glob | Hole, ...]) -> Value:
    return Value(tuple(part for part in (head, *tail) if part))
