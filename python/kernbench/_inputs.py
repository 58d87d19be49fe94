"""_inputs.py -- data of one's own for the inputs of a bench: arrays, handed over as files."""
import contextlib
import os
import tempfile
from typing import Any, Iterator, List, Mapping, Optional

import numpy as np

from ._errors import BadArgument, Error, error


@contextlib.contextmanager
def given_as_files(inputs: Optional[Mapping[str, Any]]) -> Iterator[List[str]]:
    """Operands that name files of arrays, while these files are there."""
    if inputs is None:
        yield []
        return
    if not isinstance(inputs, Mapping):
        raise BadArgument(2, [f"inputs={inputs!r}: a dict of names and arrays; args= has an argument of that name"])
    with tempfile.TemporaryDirectory(prefix="kernbench.") as folder:
        words = []
        for name, array in inputs.items():
            path = os.path.join(folder, f"{name}.npy")
            given = np.ascontiguousarray(array)
            np.save(path, given.astype(given.dtype.newbyteorder("="), copy=False), allow_pickle=False)
            words.append(f"{name}=@{path}")
        with named_as_inputs(words):
            yield words


@contextlib.contextmanager
def named_as_inputs(words: List[str]) -> Iterator[None]:
    """Messages name inputs["x"], not the file in which its array was handed over."""
    try:
        yield
    except Error as e:
        messages = e.messages
        for name, path in (word.split("=@", 1) for word in words):
            messages = [text.replace(path, f'inputs["{name}"]') for text in messages]
        if messages == e.messages:
            raise
        raise error(e.code, messages, e.rows, e.key) from e.__cause__
