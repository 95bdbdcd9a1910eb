"""Numbers that a page shows against those that a program prints, and pages that are written anew.

What a program prints in the last digits, how many steps and iterations it takes and how long, depends on the BLAS, the
libm and the processor (docs/reproducibility.md). So each number is compared by what it is, which its line tells:

- a duration (`simulated in 0.1 s`) is not compared,
- work (`107 steps`, `112 Newton iterations`, `181 in its factors`) agrees to 20 % or 2,
- an error (`energy off by`, columns of `energy.balance`, of `drift`, of `error`) agrees to a factor of two,
- anything else agrees to 1 %, in a table of results also to 1 % of the largest number in its column (times agree).

Words agree. A line `...` stands for any number of lines, and `[...]` in a line for any text.
"""

import re

RELATIVE, ABSOLUTE = 1e-2, 1e-9
WORK, WORK_LEAST = 0.2, 2
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
DURATION = re.compile(r"in $")
AFTER_DURATION = re.compile(r" s\b")
AFTER_WORK = re.compile(r" (steps?|Newton iterations?|factorizations?|in its factors|operations|to solve)\b")
BEFORE_ERROR = re.compile(r"(off by|off by at most|error) $")
ERROR_COLUMN = re.compile(r"energy\.balance|drift|error")


def same_work(a, b):
    return abs(a - b) <= max(WORK * max(abs(a), abs(b)), WORK_LEAST)


def same_error(a, b):
    """Of the same sign and within a factor of two, or both round-off."""
    return abs(a - b) <= max(abs(a), abs(b)) / 2 or max(abs(a), abs(b)) <= ABSOLUTE


def same_value(a, b, scale=0.0):
    return abs(a - b) <= RELATIVE * max(abs(a), scale) + ABSOLUTE


def kind(line, match):
    """How the number at this place of a line is compared."""
    before, after = line[:match.start()], line[match.end():]
    if DURATION.search(before) and AFTER_DURATION.match(after):
        return lambda a, b: True
    if AFTER_WORK.match(after):
        return same_work
    if BEFORE_ERROR.search(before):
        return same_error
    return same_value


def same_line(shown, measured):
    if "[...]" in shown:
        return bool(re.fullmatch(".*".join(map(re.escape, shown.split("[...]"))), measured))
    shown, measured = shown.rstrip(), measured.rstrip()
    # Columns of numbers keep their width.
    words = [NUMBER.sub("#", text).split() for text in (shown, measured)]
    if words[0] != words[1]:
        return False
    pairs = zip(NUMBER.finditer(shown), NUMBER.finditer(measured))
    return all(kind(shown, a)(float(a[0]), float(b[0])) for a, b in pairs)


def same_lines(shown, measured):
    """Lists of lines."""
    if not shown:
        return not measured
    if shown[0] == "...":
        return any(same_lines(shown[1:], measured[i:]) for i in range(len(measured) + 1))
    return bool(measured) and same_line(shown[0], measured[0]) and same_lines(shown[1:], measured[1:])


# ---- tables of results ----------------------------------------------------------------------------


def is_table(lines):
    """The text of results.csv, or its first lines or columns: a head with units, then numbers."""
    return bool(lines) and bool(re.fullmatch(r"([\w.*]+ \[[^\],]*\],?)+", lines[0]))


def same_cell(a, b, scale, column):
    """Scale: the largest number of the column."""
    if column.startswith("time "):
        return abs(a - b) <= ABSOLUTE
    if ERROR_COLUMN.search(column):
        return same_error(a, b) or abs(a - b) <= scale / 4
    return same_value(a, b, scale)


def same_table(shown, measured):
    if shown[:1] != measured[:1]:
        return False
    columns = shown[0].split(",")
    numbers = [[float(x) for x in line.split(",")] for line in measured[1:] if not is_table([line])]
    scale = [max((abs(row[i]) for row in numbers if i < len(row)), default=0.0) for i in range(len(columns))]

    def same_row(a, b):
        if is_table([a]) or is_table([b]):
            return a == b
        a, b = ([float(x) for x in line.split(",")] for line in (a, b))
        if len(a) != len(columns) or len(b) != len(columns):
            return False
        return all(same_cell(*cell) for cell in zip(a, b, scale, columns))

    cut = shown.index("...") if "..." in shown else len(shown)
    if cut == len(shown) and len(shown) != len(measured):
        return False
    tail = shown[cut + 1:]
    return (len(measured) >= cut + len(tail) and all(map(same_row, shown[1:cut], measured[1:cut]))
            and all(map(same_row, tail, measured[len(measured) - len(tail):])))


def same_output(shown, measured):
    if is_table(shown):
        return same_table(shown, measured)
    return same_lines(shown, measured)


# ---- pages written anew ---------------------------------------------------------------------------


def without_durations(line):
    return re.sub(r"in [\d.e+-]+ s\b", "in # s", line)


def updated_line(shown, measured):
    if "[...]" in shown and same_line(shown, measured):
        return shown
    return shown if without_durations(shown) == without_durations(measured) else measured


def updated(shown, measured):
    """The lines to show instead. What was left out stays left out; a duration alone is no reason to change a line."""
    if "..." in shown:
        cut = shown.index("...")
        tail = len(shown) - cut - 1
        return measured[:cut] + ["..."] + (measured[-tail:] if tail else [])
    if len(shown) == len(measured):
        return list(map(updated_line, shown, measured))
    return measured
