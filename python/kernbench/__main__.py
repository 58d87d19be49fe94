"""__main__.py -- the program kernbench, of the library of this package: `python -m kernbench`."""
import os
import sys
from pathlib import Path
from typing import List, Optional

from ._native import ffi, lib


def main(words: Optional[List[str]] = None) -> int:
    """Runs a command line (default: that of this process) and returns its exit code."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["cc"]:  # benches find the headers of this package
        words = [*words, *["--"] * ("--" not in words), f"-I{Path(__file__).parent / 'include'}"]
    texts = [ffi.new("char[]", os.fsencode(word)) for word in ["kernbench", *words]]
    sys.stdout.flush()
    return int(lib.kb_cli_main(ffi.NULL, len(texts), ffi.new("char *[]", [*texts, ffi.NULL])))


if __name__ == "__main__":
    sys.exit(main())
