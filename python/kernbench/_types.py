"""_types.py -- what arguments may be and what rows are, for type checkers."""
import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

import numpy as np

if TYPE_CHECKING:
    import pandas

    Rows = pandas.DataFrame  # without pandas a numpy record array
    Array = np.ndarray[Any, Any]  # of any type and shape
else:
    Rows = Array = Any

Path = Union[str, "os.PathLike[str]"]
Scalar = Union[bool, int, float, str, "np.generic"]
Values = Union[Scalar, Sequence[Scalar], Array]  # a list, or a text as on the command line
Option = Union[None, Values, "os.PathLike[str]"]
Size = Union[int, str]  # 4096, "64K"
Keys = Mapping[str, Any]  # paths of keys of a machine, and their values
