"""The entry point: `decurion …` and `python -m decurion …`.

`decurion hook` is started cold by other programs, once per tool call, so it goes straight to the hook program and
never pays for the command line.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    import click

INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C
BROKEN_PIPE = 141  # the same for a reader that went away (`decurion audit show | head`)


def main(argv: list[str] | None = None) -> int:
    """Run one command line (`sys.argv` by default) and give its exit code; a person never sees a traceback."""
    args = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_what_is_closed()
    try:
        if args == ["hook"]:
            return _hook(ends_process=argv is None)
        from contextlib import redirect_stderr

        courtesy: Any = _Courtesy(sys.stderr)
        with redirect_stderr(courtesy):
            return _command(args)
    except KeyboardInterrupt:
        return INTERRUPTED


def _hook(*, ends_process: bool) -> int:
    if ends_process:
        from decurion.hooks.cold import run

        run()
    from decurion.hooks.program import main as hook

    return hook()


class _Courtesy:
    """Standard error as commands see it: where it is full or gone, nobody is told, and the work goes on all the same."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or from now on nothing more."""
        try:
            return self._stream.write(text)
        except OSError:
            _silence(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, or from now on nothing more."""
        try:
            self._stream.flush()
        except OSError:
            _silence(self._stream)


def _command(args: list[str]) -> int:
    import click

    from decurion.hooks.errors import DecurionError
    from decurion.orchestrator.cli import cli
    from decurion.orchestrator.screen import on_screen

    _spell_out_the_unknown(sys.stdout)
    try:
        result: object = cli.main(args, prog_name="decurion", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except DecurionError as error:
        click.echo(f"decurion: {on_screen(str(error))}", err=True)
        return error.exit_code
    except BrokenPipeError:
        _silence(sys.stdout)
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - a person gets a line and a file, never a traceback
        text = _system_error(error) if isinstance(error, OSError) else _internal(error)
        click.echo(f"decurion: {on_screen(text)}", err=True)
        return 1
    return result if isinstance(result, int) else 0


def _spell_out_the_unknown(stream: Any) -> None:
    """Let what the output's encoding does not know, such as a tick in Latin-1, be written as its number."""
    if stream.errors == "strict" and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def _show(error: click.ClickException) -> None:
    """Say what is wrong with a command line and where its help is; a group called without a command gives its help."""
    import click

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    where = f"\nSee `{context.command_path} --help`." if context else ""
    click.echo(f"decurion: {error.format_message()}{where}", err=True)


def _open_what_is_closed() -> None:
    """Put nothing in the place of closed standard streams, or the next file that is opened would become one of them."""
    import os

    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)  # noqa: FBT003 - it takes no keyword
    os.close(number)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _system_error(error: OSError) -> str:
    """Say what the system refused, and of which file; where it names none, it is most likely the output."""
    import errno
    import os

    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        return "The folder you are in is gone; change to another one."
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF):
        _silence(sys.stdout)
        return f"The output could not be written: {error.strerror}."
    if error.filename is None or error.strerror is None:
        return _internal(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}."


def _folder_is_gone() -> bool:
    import os

    try:
        os.getcwd()  # noqa: PTH109 - pathlib is not imported for a question
    except FileNotFoundError:
        return True
    return False


def _internal(error: Exception) -> str:
    """Write the traceback where a report can quote it; give the words that say what and where."""
    import traceback
    from pathlib import Path

    from decurion.hooks.audit import state_dir

    said = f"internal error: {type(error).__name__}: {error}"
    path = Path(state_dir()) / "crash.txt"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(traceback.format_exc(), encoding="utf-8")
    except OSError:
        return said
    return f"{said}\nThe details are in {path}; please report them."


def _silence(stream: TextIO) -> None:
    """Point a stream at nothing, or Python complains on exit that it cannot flush."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
