"""Runs a notebook's cells, as Jupyter would, and compares what they print with the outputs that it holds; or writes these.

usage: notebook.py NOTEBOOK [--write]      exit status 1: a cell fails, or its output is another one

Numbers may differ by 1 in 1000 or in the last digit that is shown: they depend on the processor and on libm. Text and the number of lines may not.
"""

import ast
import contextlib
import io
import json
import re
import sys

NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


def run(cell, names, title):
    """What a cell prints, and the value of its last line, as a notebook shows it."""
    tree = ast.parse("".join(cell["source"]), title)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, title, "exec"), names)
        value = eval(compile(ast.Expression(last.value), title, "eval"), names) if last else None
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        outputs.append({"data": {"text/plain": repr(value).splitlines(True)}, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def texts(outputs):
    return ["".join(o.get("text") or o["data"]["text/plain"]) for o in outputs]


def same(one, other):
    """Whether two texts are the same but for the last digits of numbers."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)):
        digits = len(b.partition(".")[2].lower().partition("e")[0])
        power = int(b.lower().partition("e")[2] or 0)
        if abs(float(a) - float(b)) > max(1e-3 * abs(float(b)), 1.01 * 10.0 ** (power - digits)):
            return False
    return True


def check(path, write=False):
    """A list of sentences about cells that are not as the notebook says."""
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    names, wrong, count = {"__name__": "__main__"}, [], 0
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        outputs = run(cell, names, f"cell {count}")
        if write:
            cell["outputs"], cell["execution_count"] = outputs, count
            for o in outputs:
                if "execution_count" in o:
                    o["execution_count"] = count
        else:
            found, wanted = texts(outputs), texts(cell["outputs"])
            if len(found) != len(wanted) or not all(map(same, found, wanted)):
                wrong.append(f"{path}: cell {count} gives {found}, not {wanted}")
    if write:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(book, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return wrong


if __name__ == "__main__":
    sentences = check(sys.argv[1], "--write" in sys.argv[2:])
    print("\n".join(sentences), end="\n" if sentences else "")
    sys.exit(1 if sentences else 0)
