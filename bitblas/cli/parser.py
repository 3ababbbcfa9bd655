"""The argument parser: all commands and their options."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from ..formats import TILES, tiled
from ..io import FILE_FORMATS
from ..plan.forms import FORMATS
from . import algorithms, commands, comparison, completion, files, making, output, ranks, several, warming
from .source import Fault, meant

DESCRIPTION = (
    "Graph algorithms as linear algebra on bits. FILE is a Matrix Market file, an edge list, .npz of SciPy or .bitblas "
    "of convert, by its suffix, perhaps .gz; vertices count from 0, or have the names that an edge list gives them."
)
WIDTH, INDENT = 100, 20  # of what --help says
OTHERS = "others: Files, this machine, and comparisons."
CODES = (
    "Exit codes: 0; 1 compare or demo found a difference; 2 a bad call or file, said in one line on standard error; "
    "130 interrupted; 141 the reader of the pipe left."
)


class Parser(argparse.ArgumentParser):
    """Errors are one line, and exit code 2, as for all that is wrong; they say what may have been meant."""

    def error(self, message: str) -> NoReturn:
        raise Fault(f"{message} (see '{self.prog} --help')")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            if action.dest == "command":
                raise Fault(f"{value}: no such command (see 'bitblas --help'){meant(str(value), known)}")
            raise argparse.ArgumentError(
                action, f"expected one of {', '.join(known)}, got {value!r}{meant(str(value), known)}"
            )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        made, rest = self.parse_known_args(args, namespace)
        if rest:
            of: Parser = made.parser
            if not rest[0].startswith("-"):
                of.error(f"{rest[0]}: expected options, got one more argument")
            known = [flag for action in of._actions for flag in action.option_strings]
            flag = rest[0].partition("=")[0]
            if flag in commands.FLAGS and hasattr(made, "commands"):
                of.error(f"{flag}: an option of an algorithm, which stands inside its quotes. {several.EXAMPLE}")
            of.error(f"{rest[0]}: no such option{meant(flag, known)}")
        return made


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; `run` of what it gives takes the arguments."""
    from .. import __version__

    top = Parser(prog="bitblas", formatter_class=argparse.RawDescriptionHelpFormatter)
    top.description = textwrap.fill(DESCRIPTION, WIDTH)
    top.add_argument("--version", action="version", version=f"bitblas {__version__}")
    listed = top.add_subparsers(dest="command", metavar="COMMAND", help="one of those below", required=True)
    words: dict[str, list[str]] = {}  # what --help says of each command, by groups

    def command(
        name: str, run: Callable[..., Any], help: str, aliases: tuple[str, ...] = (), group: str = OTHERS
    ) -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = listed.add_parser(name, description=help, aliases=aliases)
        p.add_argument("--json", action="store_true", help="the result as one JSON object")
        p.set_defaults(run=run, parser=p)
        first = f"  {', '.join((name, *aliases)):{INDENT - 2}s}"
        said = textwrap.fill(help, WIDTH, initial_indent=first, subsequent_indent=" " * INDENT)
        words.setdefault(group, []).append(said)
        return p

    p = command("info", files.info, "what a file holds and how it would be stored; without FILE, what works here")
    _input(p, "?")
    _storage(p)
    p.add_argument("--forms", action="store_true", help="also every stored form: bytes, and times as predicted")
    p.add_argument("--measure", action="store_true", help="also time all that is predicted, in every form")
    p.add_argument("--orders", action="store_true", help="also every form under each order of the vertices")
    p = command("calibrate", files.calibrate, "measure what products cost on a device, and remember it for the plan")
    p.add_argument("--device", metavar="DEVICE", help="default: cuda if it works")
    p.add_argument("--scale", type=int, metavar="N", help="log2 of the vertices of the samples (default 16, GPU 20)")
    output.add_out(p, "write to this .json, not to the file that the plan reads")
    for folder, group in commands.COMMANDS.items():
        for algorithm in group:
            p = command(algorithm.name, algorithms.run, algorithm.help, algorithm.aliases, commands.title(folder))
            p.set_defaults(algorithm=algorithm)
            for flag, options in algorithm.options.items():
                p.add_argument(flag, **options)
            if algorithm.writes:
                output.add_out(p, f"write {algorithm.writes}")
                p.add_argument("--output-header", action="store_true", help="name the columns of .tsv, .csv, .edges")
            _input(p)
            _storage(p)
            p.add_argument("--trace", action="store_true", help="also list the kernels that ran, on stderr")
    p = command("several", several.several, "several algorithms, the file read once; with --json a line for each")
    p.epilog = several.EXAMPLE
    _input(p)
    _storage(p)
    p.set_defaults(whole=top)
    p.add_argument("commands", metavar="COMMAND", nargs="+", help="an algorithm, in quotes with its options")
    p = command("make", making.make, "a graph made by a rule or by chance, into a file")
    kinds = p.add_subparsers(dest="kind", metavar="KIND", help=", ".join(making.generators()), required=True)
    for kind, program in making.generators().items():
        one = kinds.add_parser(kind, description=(program.__doc__ or "").partition("\n")[0])
        one.add_argument("--json", action="store_true", help="the result as one JSON object")
        one.set_defaults(parser=one, file=None)
        making.add_generator(one, program)
        _storage(one)
    p = command("convert", files.convert, "the same matrix in a file of another format")
    _input(p)
    files.add_convert_options(p)
    p = command("spy", files.spy, "a picture of where the entries are, and how full the tiles (needs matplotlib)")
    _input(p)
    _storage(p)
    output.add_out(p, "the picture: .png, .svg or .pdf", required=True)
    p = command("warm", warming.warm, "compile the kernels that the algorithms and some programs need, for the CPU")
    p.add_argument("files", metavar="PROGRAM", nargs="*", help="a Python file, or a page of Markdown with Python in it")
    p.add_argument("-j", "--processes", type=int, metavar="N", help="so many at once (default: one for each processor)")
    p.add_argument("--all", action="store_true", help="every algorithm, not only those of compare")
    p = command("completion", completion.completion, 'what a shell completes by: eval "$(bitblas completion bash)"')
    p.set_defaults(whole=top)
    p.add_argument("shell", choices=completion.SHELLS, help="zsh: the same; fish: bitblas completion fish | source")
    p = command("run", ranks.run, "a Python program as several ranks on this host, each with its share of the objects")
    p.add_argument("-n", "--ranks", type=int, required=True, metavar="N", help="how many, on GPUs one for each")
    p.add_argument("--device", metavar="DEVICE", help="cpu or cuda; default: cuda if it works")
    p.add_argument("program", metavar="PROGRAM", nargs=argparse.REMAINDER, help="a Python file, and its arguments")
    for name, help in (
        ("compare", "all algorithms against SuiteSparse:GraphBLAS: answers, times, bytes"),
        ("demo", "compare, on the shipped road network of New York"),
    ):
        p = command(name, comparison.compare, help)
        if name == "compare":
            _input(p)
        _storage(p)
        p.add_argument("--source", metavar="VERTEX", help="where to start (default 0, if vertices have no names)")
        p.add_argument(
            "--picture", metavar="OUT", help="the graph by how far its vertices are: .png, .svg; needs [plots]"
        )
        p.add_argument("--algorithms", metavar="NAME,...", help="these alone; all: every one, which can take long")
    top.epilog = "\n\n".join("\n".join([textwrap.fill(group, WIDTH), *said]) for group, said in words.items())
    top.epilog += "\n\n" + textwrap.fill(CODES, WIDTH)
    return top


def _input(top: argparse.ArgumentParser, count: str | None = None) -> None:
    top.add_argument("file", metavar="FILE", nargs=count, help="the graph; - reads stdin")
    p = top.add_argument_group("the file")
    p.add_argument("--input-format", choices=FILE_FORMATS, help="default: by the suffix; Matrix Market for stdin")
    p.add_argument("--dup-op", metavar="OP", help="how to join entries given twice: plus, min, max, first, ...")
    ways = p.add_mutually_exclusive_group()
    ways.add_argument(
        "--undirected", action="store_true", default=None,
        help="edges go both ways; the lesser value where the two differ",
    )  # fmt: skip
    ways.add_argument(
        "--directed",
        action="store_false",
        dest="undirected",
        default=None,
        help="they do not (default, with a warning)",
    )
    group = top.add_argument_group("edge lists")
    group.add_argument(
        "--delimiter", metavar="MARK", help="what divides columns: ';', '|', tab, space; default: by suffix"
    )
    group.add_argument("--decimal", choices=[".", ","], help="what stands before the fraction of weights, as in 3,14")
    group.add_argument("--columns", metavar="A,B,W", help="of a table: source, target and weight, by name or from 0")
    group.add_argument("--base", type=int, choices=[0, 1], help="the number of the first vertex (default 0)")
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="the first line names the columns")
    group.add_argument("--labels", action="store_true", help="vertices are names, even where they look like numbers")
    group.add_argument("--no-weights", action="store_true", help="leave a third column out")
    group.add_argument("--size", type=int, metavar="N", help="the number of vertices")
    p.add_argument(
        "--dtype", metavar="TYPE", help="the type of the values, which it must hold; FP64 for integers beyond 64 bits"
    )


def _storage(top: argparse.ArgumentParser) -> None:
    p = top.add_argument_group("where and how the matrix is stored")
    p.add_argument(
        "--device", metavar="DEVICE", help="cpu, cuda, or cuda:1 for the second GPU; default: cuda if it works"
    )
    p.add_argument("--format", choices=FORMATS, default="auto", help="how the matrix is stored")
    sizes = (name if all_of == TILES else f"{name}: {', '.join(map(str, all_of))}" for name, all_of in tiled().items())
    p.add_argument("--tile", type=int, choices=TILES, help=f"edge of a tile ({', '.join(sizes)})")
