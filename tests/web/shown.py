"""shown.py -- what a table of a report shows of a value of its JSON."""
import decimal

ROWS_SHOWN = 1000  # of a table, at once


def shown(column, value):
    """`value` has been read with decimals, not floats; it is rounded by the unit of its column."""
    if value is None:
        return ""
    if not isinstance(value, decimal.Decimal):
        return str(value)
    if column in ("rate", "saturation_rate"):
        return format(value.normalize(), "f")
    if column.endswith("_err"):
        return str(value)
    places = "0.1" if column.endswith(("pct", "%")) else "0.01"
    return str(value.quantize(decimal.Decimal(places), decimal.ROUND_HALF_UP))
