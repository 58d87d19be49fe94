# The module that cffi makes of the headers: its types are C's.
from typing import Any

ffi: Any
lib: Any
