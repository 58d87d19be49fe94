"""_arguments.py -- two doors: options of a command, and arguments of the bench that it runs."""
import functools
import re
import reprlib
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Set, Tuple

from ._errors import Error, error
from ._query import Query, word

@functools.lru_cache(None)
def option_names() -> FrozenSet[str]:
    """The options of `run`, as its help has them, max_events is --max-events; of `why` about a bench, and data
    of its inputs."""
    names = re.findall(r"^ +(?:-\w, )?--([a-z][a-z0-9-]*)", Query(None, ["run", "--help"]).text(), re.M)
    return frozenset(name.replace("-", "_") for name in names) | {"by", "all_pairs", "until_ns", "inputs"}


def argument_names(bench: str) -> Set[str]:
    """Those of a bench; none of one that is not there: to run it says why."""
    try:
        rows = Query(None, ["list", "--format=csv", bench]).rows()
    except Error:
        return set()
    return {name for name in rows["argument"] if isinstance(name, str)}


def check_clash(bench: str, options: Mapping[str, Any]) -> None:
    """A keyword could be an option or an argument of the bench: it must be said which."""
    for name in sorted(set(options) & argument_names(bench) if options else ()):
        value = reprlib.repr(options[name])
        raise error(2, [f"'{name}' is an option, and an argument of {bench}, too: args={{'{name}': {value}}} is the "
                        f"argument, {name}={value} beside args={{}} the option"])


def given(**options: Any) -> Dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def split(bench: str, keywords: Mapping[str, Any], own: Iterable[str] = ()) -> Tuple[List[str], Dict[str, Any]]:
    """The operands of a command that runs a bench, and its options.

    keywords  `args`, a dict of arguments of the bench, whatever they are called; options; all else
              is an argument of the bench. One that could be both is neither, unless there is
              `args`, where it would stand then
    own       options of the method itself, beside those of the command
    """
    args = keywords.get("args")
    if args is not None and not isinstance(args, Mapping):
        raise error(2, [f"args is a dict of arguments of the bench, not {type(args).__name__}"])
    names = option_names().union(own)
    options = {name: value for name, value in keywords.items() if name in names}
    of_bench = {name: value for name, value in keywords.items() if name not in names and name != "args"}
    if args is None:
        check_clash(bench, {name: value for name, value in options.items() if name != "inputs"})  # a dict is no argument
    for name in sorted(set(of_bench) & set(args or {})):
        raise error(2, [f"'{name}' is given twice: as {name}={of_bench[name]!r} and in args"])
    of_bench.update(args or {})
    if "until_ns" in options:
        options["until"] = options.pop("until_ns")
    return [bench] + [f"{name}={word(value)}" for name, value in of_bench.items()], options
