"""The command line: `bitblas COMMAND FILE`. Results on stdout, errors as one line on stderr; help without a command.

Exit codes: 0; 1 if `compare` or `demo` found a difference; 2 for a bad call or file; 130 if interrupted; 141 for a
broken pipe.
"""

from __future__ import annotations

import os
import sys
import warnings

from .. import display
from .commands import as_options
from .input import Fault
from .parser import parser

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        commands = parser()
        if not (sys.argv[1:] if argv is None else argv):
            commands.print_help()
            return 0
        args = commands.parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            status = int(args.run(args) or 0)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # flushing the buffer at exit must not raise
        return 141
    except (Fault, OSError, ValueError, IndexError, ImportError, MemoryError) as error:
        return _complain(error)
    except Exception as error:
        from ..exceptions import GraphblasException

        if isinstance(error, GraphblasException):
            return _complain(error)
        raise


def _warn(message: Warning | str, *where: object, **more: object) -> None:
    display.print_message(f"bitblas: warning: {' '.join(as_options(str(message)).split())}")


def _complain(error: BaseException) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    print("bitblas: error:", " ".join(as_options(text).split()) or type(error).__name__, file=sys.stderr)
    return 2
