"""Numbers of the library as arrays: of NumPy if it is there."""

try:
    import numpy
except ImportError:  # memoryviews do
    numpy = None


def array(buffer):
    """One-dimensional, of doubles, without a copy."""
    if numpy is not None:
        return numpy.frombuffer(buffer, dtype=float)
    view = memoryview(buffer)
    return view if view.format == "d" else view.cast("d")


def columns(buffer, width, column):
    """A column of rows of `width` numbers, without a copy."""
    return array(buffer)[column::width] if width else array(buffer)


def matrix(data, rows, cols):
    """A matrix that is stored by columns; without NumPy a list of rows."""
    flat = array(data)
    if numpy is not None:
        return flat.reshape((cols, rows)).T
    return [[flat[j * rows + i] for j in range(cols)] for i in range(rows)]
