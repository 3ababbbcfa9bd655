"""`bitblas completion bash`: shell completion of commands, options and their values."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def options_of(p: argparse.ArgumentParser) -> dict[str, list[str]]:
    """The options of a command, each with its choices."""
    return {
        flag: [str(choice) for choice in action.choices or ()]
        for action in p._actions
        for flag in action.option_strings
        if flag.startswith("--")
    }


def commands_of(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands by their names and aliases."""
    return next(action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction))


def completion(args: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    commands = commands_of(args.whole)
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](commands))


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    cases, values = [], []
    for name, p in commands.items():
        options = options_of(p)
        cases.append(f"    {name}) words='{' '.join(options)}' ;;")
        values += [f"    {name}:{flag}) words='{' '.join(known)}' ;;" for flag, known in options.items() if known]
    lines = "\n".join(
        [
            "_bitblas() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            "  if [ $COMP_CWORD -eq 1 ]; then",
            f"    words='{' '.join(commands)}'",
            '  else case "${COMP_WORDS[1]}:$before" in',
            *values,
            '    *) case "$word" in -*) case "${COMP_WORDS[1]}" in',
            *cases,
            "    esac ;; esac ;;",
            "  esac; fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _bitblas bitblas",
        ]
    )
    return lines


def _zsh(commands: dict[str, argparse.ArgumentParser]) -> str:
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(commands)


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [f"complete -c bitblas -n __fish_use_subcommand -a '{' '.join(commands)}'"]
    for name, p in commands.items():
        for flag, known in options_of(p).items():
            more = f" -x -a '{' '.join(known)}'" if known else ""
            lines.append(f"complete -c bitblas -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}{more}")
    return "\n".join(lines)
