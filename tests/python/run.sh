#!/usr/bin/env bash
# run.sh -- the tests of the Python package, as TAP; run.sh PATTERN runs some, as pytest's -k has it.
set -u
cd "$(dirname "$0")" || exit 1
B=$(cd ../.. && cd "${B:-build}" && pwd)
export B PYTHONDONTWRITEBYTECODE=1
exec "${PY:-$B/_python/venv/bin/python}" -m pytest -q -p no:cacheprovider ${1:+-k "$1"} .
