"""Writes docs/python-api.md from the signatures and docstrings of the package.

usage: PYTHONPATH=BUILD/python generate_api.py OUTPUT
"""

import inspect
import sys

import alphastep

TOPICS = [
    ("Machines", ["load", "Model", "Machine"]),
    ("Runs", ["Result", "Event", "Motion"]),
    ("Step by step", ["Simulation"]),
    ("Functions of Python in machines", ["Block", "Force"]),
    ("Equilibria and linear systems", ["Equilibrium", "Linear", "Mode"]),
    ("Many runs, flexible bodies", ["study", "Study", "reduce", "FlexibleBody"]),
    ("Problems", ["Problem"]),
    ("What is raised", ["Error", "ModelError", "Message", "Interrupted", "Warning"]),
]
# Objects of these come from functions and methods.
GIVEN = {"Machine", "Result", "Event", "Motion", "Simulation", "Equilibrium", "Linear", "Mode", "Study", "FlexibleBody", "Error", "ModelError", "Message",
         "Interrupted", "Warning"}
HEAD = """# The Python package: all names

Made from the docstrings of the package, which `help()` shows, too; the guide is [python.md](python.md).
"""


def text(thing):
    return inspect.cleandoc(thing.__doc__) if thing.__doc__ else ""


def signature(name, thing):
    try:
        shown = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return name
    return name + shown.replace("(self, ", "(").replace("(self)", "()").replace("'", "") if name not in GIVEN else name


def block(name, about):
    return f"```\n{name}\n" + ("\n".join("    " + row if row else "" for row in about.splitlines()) + "\n" if about else "") + "```\n"


def members(cls):
    """Methods and properties of a class, those of its bases of the package first."""
    out = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("alphastep"):
            out.update({k: v for k, v in vars(base).items() if not k.startswith("_") or k == "__getitem__"})
    return out


def entry(name):
    thing = getattr(alphastep, name)
    out = [f"### {name}\n", block(signature(name, thing), text(thing))]
    if name == "Mode" or not inspect.isclass(thing) or issubclass(thing, tuple):
        return out
    for member, value in members(thing).items():
        if isinstance(value, property):
            out.append(block(f".{member}", text(value)))
        elif callable(value) and text(value):
            shown = signature("", value)
            out.append(block(f"[{shown.strip('()')}]" if member == "__getitem__" else f".{member}{shown}", text(value)))
    return out


def sections():
    """Methods of the sections of a Model."""
    out = ["### Sections of a Model\n", "Keywords of each are the keys of [model files](model-file.md#keys); `help(model.joints.revolute)` shows them.\n"]
    for name, part in vars(alphastep.Model()).items():
        methods = [m for m in vars(type(part)) if not m.startswith("__")]
        if hasattr(part, "_lines"):
            out.append(f"`model.{name}`: " + (", ".join(f"`{m}`" for m in methods) or f"`model.{name}(...)`") + "\n")
    return out


def main():
    out = [HEAD]
    named = [name for _, names in TOPICS for name in names]
    assert sorted(named) == sorted(alphastep.__all__), set(named) ^ set(alphastep.__all__)
    for topic, names in TOPICS:
        out.append(f"## {topic}\n")
        for name in names:
            out += entry(name) + (sections() if name == "Model" else [])
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
