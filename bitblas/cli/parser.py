"""The argument parser: all commands and their options."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from ..formats import TILES, tiled
from ..io import FILE_FORMATS
from ..plan.format_choice import FORMATS
from . import algorithms, commands, draw_command, file_commands, output
from .input import Fault, suggestion

DESCRIPTION = (
    "Graph algorithms as linear algebra on bits. FILE is a Matrix Market file, an edge list, a .npz of SciPy or a "
    ".bitblas of convert, by its suffix, optionally followed by .gz. Vertices count from 0, or have the names of the "
    "edge list."
)
WIDTH, INDENT = 100, 20  # of the text of --help
EXAMPLES = """for example:
  bitblas pagerank links.csv --top 20
  bitblas sssp roads.csv --source Lisbon --to Oslo
  bitblas components payments.csv --columns payer,payee --top 5

commands, by topic:"""
MORE = "bitblas --help-all describes each command, bitblas COMMAND --help lists its options."
OTHERS = "others: Files, this machine, and comparisons."
CODES = (
    "Exit codes: 0; 1 compare or demo found a difference; 2 a bad call or file (one line on standard error says why); "
    "130 interrupted; 141 broken pipe."
)


STORAGE = "where and how the matrix is stored"  # options that only the long help lists


class HelpAll(argparse.Action):
    """Print the long help and end."""

    def __init__(self, option_strings: list[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=more["help"])

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        assert isinstance(parser, Parser)
        parser._print_message(parser.format_help_all(), sys.stdout)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Errors are one line with exit code 2, like all other errors, and suggest what may have been meant. The help is
    short: `--help-all` also lists how a matrix is stored, and of the program what each command does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.long_epilog: str | None = None
        self.add_argument("--help-all", action=HelpAll, help="show all options, and exit")

    def format_help_all(self) -> str:
        """The long help."""
        epilog = self.epilog
        try:
            self.epilog = epilog if self.long_epilog is None else self.long_epilog
            return super().format_help()
        finally:
            self.epilog = epilog

    def format_help(self) -> str:
        """The short help."""
        actions, groups, usage = self._actions, self._action_groups, self.usage
        hidden = [action for group in groups if group.title == STORAGE for action in group._group_actions]
        operands = [x.metavar or x.dest for x in actions if not x.option_strings and x.help is not argparse.SUPPRESS]
        try:
            if hidden:
                self.usage = f"%(prog)s [OPTIONS] {' '.join(map(str, operands))}"
            self._actions = [action for action in actions if action not in hidden]
            self._action_groups = [group for group in groups if group.title != STORAGE]
            return super().format_help()
        finally:
            self._actions, self._action_groups, self.usage = actions, groups, usage

    def error(self, message: str) -> NoReturn:
        raise Fault(f"{message} (see '{self.prog} --help')")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            if action.dest == "command":
                raise Fault(f"{value}: no such command (see 'bitblas --help'){suggestion(str(value), known)}")
            raise argparse.ArgumentError(
                action, f"expected one of {', '.join(known)}, got {value!r}{suggestion(str(value), known)}"
            )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        parsed, rest = self.parse_known_args(args, namespace)
        if rest:
            of: Parser = parsed.parser
            if not rest[0].startswith("-"):
                of.error(f"{rest[0]}: expected options, got one more argument")
            known = [flag for action in of._actions for flag in action.option_strings]
            flag = rest[0].partition("=")[0]
            if flag in commands.FLAGS and hasattr(parsed, "commands"):
                of.error(
                    f"{flag}: put an option of an algorithm inside the quotes of that algorithm. {algorithms.EXAMPLE}"
                )
            of.error(f"{rest[0]}: no such option{suggestion(flag, known)}")
        return parsed


def parser() -> argparse.ArgumentParser:
    """The parser of all commands. The parsed arguments have `run`, the function to call with them."""
    from .. import __version__

    top = Parser(prog="bitblas", formatter_class=argparse.RawDescriptionHelpFormatter)
    top.description = textwrap.fill(DESCRIPTION, WIDTH)
    top.add_argument("--version", action="version", version=f"bitblas {__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", help="one of the commands below", required=True)
    help_lines: dict[str, list[str]] = {}  # help lines of the commands, by group
    names: dict[str, list[str]] = {}  # the commands by group

    def command(
        name: str,
        run: Callable[[argparse.Namespace], int | None],
        help: str,
        aliases: tuple[str, ...] = (),
        group: str = OTHERS,
    ) -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = subparsers.add_parser(name, description=help, aliases=aliases)
        p.add_argument("--json", action="store_true", help="the result as one JSON object")
        p.set_defaults(run=run, parser=p)
        first = f"  {', '.join((name, *aliases)):{INDENT - 2}s}"
        lines = textwrap.fill(help, WIDTH, initial_indent=first, subsequent_indent=" " * INDENT)
        help_lines.setdefault(group, []).append(lines)
        names.setdefault(group, []).append(name)
        return p

    p = command(
        "info", file_commands.info, "describe a graph and its stored format; without FILE, list the available devices"
    )
    _input(p, "?")
    _storage(p)
    p.add_argument("--forms", action="store_true", help="also list every stored format: bytes and predicted times")
    p.add_argument("--measure", action="store_true", help="also measure the predicted times, in every format")
    p.add_argument("--orders", action="store_true", help="also list every format under each vertex order")
    p = command(
        "calibrate", file_commands.calibrate, "measure the cost of products on a device and save it for the planner"
    )
    p.add_argument("--device", metavar="DEVICE", help="default: cuda if it works")
    p.add_argument(
        "--scale", type=int, metavar="N", help="log2 of the number of vertices of the samples (default 16, GPU 20)"
    )
    output.add_out(p, "write to this .json instead of the file that the planner reads")
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
    p = command(
        "several", algorithms.several, "run several algorithms, reading the file once; --json prints one line for each"
    )
    p.epilog = algorithms.EXAMPLE
    _input(p)
    _storage(p)
    p.set_defaults(whole=top)
    p.add_argument("commands", metavar="COMMAND", nargs="+", help="an algorithm, in quotes with its options")
    p = command("make", file_commands.make, "generate a graph and write it to a file")
    kinds = p.add_subparsers(dest="kind", metavar="KIND", help=", ".join(file_commands.generators()), required=True)
    for kind, program in file_commands.generators().items():
        one = kinds.add_parser(kind, description=(program.__doc__ or "").partition("\n")[0])
        one.add_argument("--json", action="store_true", help="the result as one JSON object")
        one.set_defaults(parser=one, file=None)
        file_commands.add_generator(one, program)
        _storage(one)
    p = command("convert", file_commands.convert, "convert a file to another format")
    _input(p)
    file_commands.add_convert_options(p)
    p = command("spy", file_commands.spy, "plot the sparsity pattern and the fill of tiles (needs matplotlib)")
    _input(p)
    _storage(p)
    output.add_out(p, "the picture: .png, .svg or .pdf", required=True)
    p = command("draw", draw_command.draw, "draw a graph, colored by communities or values (needs matplotlib)")
    _input(p)
    _storage(p)
    draw_command.add_options(p)
    p = command("warm", file_commands.warm, "compile the kernels of the algorithms, and of your programs")
    p.add_argument("files", metavar="PROGRAM", nargs="*", help="a Python file, or a Markdown page that contains Python")
    p.add_argument("-j", "--processes", type=int, metavar="N", help="number of processes (default: one per processor)")
    p.add_argument("--all", action="store_true", help="every algorithm, not only those of compare")
    p.add_argument("--device", default="cpu", metavar="DEVICE", help="compile for cpu (default), or the GPU cuda")
    p = command("completion", file_commands.completion, 'print shell completions: eval "$(bitblas completion bash)"')
    p.set_defaults(whole=top)
    p.add_argument("shell", choices=file_commands.SHELLS, help="zsh: the same; fish: bitblas completion fish | source")
    p = command(
        "run",
        file_commands.run_ranks,
        "run a Python program as several ranks on this host; each stores a part of every object",
    )
    p.add_argument("-n", "--ranks", type=int, required=True, metavar="N", help="number of ranks, one per GPU on GPUs")
    p.add_argument("--device", metavar="DEVICE", help="cpu or cuda; default: cuda if it works")
    p.add_argument("program", metavar="PROGRAM", nargs=argparse.REMAINDER, help="a Python file and its arguments")
    for name, help in (
        ("compare", "compare with SuiteSparse:GraphBLAS: results, times, bytes"),
        ("demo", "run compare on the shipped road network of New York"),
    ):
        p = command(name, file_commands.compare, help)
        if name == "compare":
            _input(p)
        _storage(p)
        p.add_argument("--source", metavar="VERTEX", help="start vertex (default 0, if vertices have no names)")
        p.add_argument("--picture", metavar="OUT", help="plot the graph colored by distance: .png, .svg; needs [plots]")
        p.add_argument("--algorithms", metavar="NAME,...", help="only these; all: every algorithm, which can take long")
    codes = "\n\n" + textwrap.fill(CODES, WIDTH)
    long = "\n\n".join("\n".join([textwrap.fill(group, WIDTH), *lines]) for group, lines in help_lines.items())
    top.long_epilog = long + codes
    short = (
        textwrap.fill(
            ", ".join(listed),
            WIDTH,
            initial_indent=f"  {group.partition(':')[0]:{INDENT - 2}s}",
            subsequent_indent=" " * INDENT,
            break_on_hyphens=False,
        )
        for group, listed in names.items()
    )
    top.epilog = "\n".join([EXAMPLES, *short, "", MORE]) + codes
    return top


def _input(top: argparse.ArgumentParser, count: str | None = None) -> None:
    top.add_argument("file", metavar="FILE", nargs=count, help="the graph; - reads stdin")
    p = top.add_argument_group("the file")
    p.add_argument("--input-format", choices=FILE_FORMATS, help="default: by the suffix; Matrix Market for stdin")
    p.add_argument("--dup-op", metavar="OP", help="combine duplicate entries by: plus, min, max, first, ...")
    ways = p.add_mutually_exclusive_group()
    ways.add_argument(
        "--undirected",
        action="store_true",
        default=None,
        help="edges go both ways; of two different values the smaller is kept",
    )
    ways.add_argument(
        "--directed",
        action="store_false",
        dest="undirected",
        default=None,
        help="edges are directed (the default; a warning reports symmetric input)",
    )
    group = top.add_argument_group("edge lists")
    group.add_argument("--delimiter", metavar="MARK", help="column separator: ';', '|', tab, space; default: by suffix")
    group.add_argument("--decimal", choices=[".", ","], help="decimal mark of weights, as in 3,14")
    group.add_argument(
        "--columns", metavar="A,B,W", help="columns of source, target and weight, by name or by number from 0"
    )
    group.add_argument("--base", type=int, choices=[0, 1], help="the number of the first vertex (default 0)")
    group.add_argument(
        "--header", action=argparse.BooleanOptionalAction, help="the first line names the columns (default: detected)"
    )
    group.add_argument("--labels", action="store_true", help="vertices are names, even if they look like numbers")
    group.add_argument("--no-weights", action="store_true", help="ignore a third column")
    group.add_argument("--size", type=int, metavar="N", help="the number of vertices")
    p.add_argument(
        "--dtype", metavar="TYPE", help="dtype of the values, which must fit; use FP64 for integers beyond 64 bits"
    )


def _storage(top: argparse.ArgumentParser) -> None:
    p = top.add_argument_group(STORAGE)
    p.add_argument(
        "--device", metavar="DEVICE", help="cpu, cuda, or cuda:1 for the second GPU; default: cuda if it works"
    )
    p.add_argument("--format", choices=FORMATS, default="auto", help="how the matrix is stored")
    sizes = (name if all_of == TILES else f"{name}: {', '.join(map(str, all_of))}" for name, all_of in tiled().items())
    p.add_argument("--tile", type=int, choices=TILES, help=f"edge of a tile ({', '.join(sizes)})")
