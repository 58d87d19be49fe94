"""shown.py -- what a table of a report shows of a value of its data."""
import decimal
import re

ROWS_SHOWN = 100  # of a table, at first
DECIMALS = {"n": 2, "f": 2, "p": 1}  # of a type of column
PLACES = {"name", "place", "behind", "of", "busiest_link", "busiest_memory"}


def end(name):
    name = re.sub(r"^sip0\.", "", name)
    name = re.sub(r"^sip(\d+)\b", r"s\1", name)
    return re.sub(r"\bcube(\d+)\b", r"c\1", name, count=1).replace("hbm_ctrl.", "", 1)


def place(name):
    """sip0.cube1.noc -> sip0.cube1.ucie-E is c1: noc, an arrow, ucie-E; between cubes c1, an arrow, c2."""
    ends = [end(part) for part in name.split(" -> ")]
    if len(ends) < 2:
        return ends[0]
    a, b = ends[:2]
    cubes = [re.sub(r"\.[^.]*$", "", part) for part in (a, b)]
    if re.search(r"\.ucie-[NESW]$", a) and re.search(r"\.ucie-[NESW]", b):
        return f"{cubes[0]} \u2192 {cubes[1]}"
    if cubes[0] == cubes[1]:
        return f"{cubes[0]}: {a[len(cubes[0]) + 1:]} \u2192 {b[len(cubes[1]) + 1:]}"
    return f"{a} \u2192 {b}"


def shown(table, row, column, kind=None, full=False):
    """The values of `row` have been read with decimals, not floats; rounded by the type of the column.
    `full`: names of places as the data has them, which a filter looks at."""
    value, kind = row[column], kind or table["types"][column]
    if value is None:
        return ""
    if isinstance(value, str):
        return place(value) if table["columns"][column] in PLACES and not full else value
    if kind not in DECIMALS:
        return format(value.normalize(), "f") if isinstance(value, decimal.Decimal) else str(value)
    places = decimal.Decimal(1).scaleb(-DECIMALS[kind])
    return str(decimal.Decimal(value).quantize(places, decimal.ROUND_HALF_UP))
