"""Blocks and forces of machines whose formulas are functions of Python."""


def _starts(given):
    """Names, each with the number that it starts with."""
    return [(str(name), float(value)) for name, value in (given.items() if isinstance(given, dict) else ((n, 0.0) for n in given or ()))]


class Block:
    """A block by functions of Python, in a machine's own equations: `type: plugin` in a model.

        x' = rate(t, inputs, states, sampled)    y = output(t, inputs, states, sampled)    sampled = sample(t, inputs, states, sampled)

    Each function receives the time [s] and tuples of numbers; those of which there are none are left away. It returns numbers in order, a single
    one may stand alone.

        damper = alphastep.Block(lambda t, w: -3 * math.tanh(w[0]), inputs=["speed"])
        model.blocks.plugin("damper", plugin=damper, inputs={"speed": "joints.rail.displacement_rate"})
        model.forces.actuator("push", joint="rail", force="blocks.damper")

    inputs    names; their formulas stand where the block is used
    outputs   names, formulas call them blocks.NAME.OUTPUT; [""], the one output that there is otherwise, is blocks.NAME
    states, sampled   names and what they start with: {"x": 0.5}; samples need `period` where the block is used

    A function has to give the same numbers for the same arguments: it is called in any order, and for points that are never reached. Derivatives
    are found by differences. Functions of Python are slow: some microseconds each call, some calls a step. What they raise ends the call that
    has led there.
    """

    def __init__(self, output=None, *, inputs=(), outputs=None, rate=None, states=None, sample=None, sampled=None):
        outputs = list(outputs) if outputs is not None else [""] if output else []
        inputs, states, sampled = [(str(n), 0.0) for n in inputs], _starts(states), _starts(sampled)
        for name, function, others in (("output", output, outputs), ("rate", rate, states), ("sample", sample, sampled)):
            if (function is None) != (not others):
                raise ValueError(f"{name}: a function and what it computes go together")
            if function is not None and not callable(function):
                raise TypeError(f"{name}: {function!r} is not a function")
        self._described = (output, rate, sample, inputs, states, sampled, [(str(n), 0.0) for n in outputs])

    def _entry(self, name):
        return ("block", name, *self._described)


class Force:
    """A force between two frames by a function of Python: `type: plugin` in a model, see docs/plugins.md.

    function(t, z, rate) receives how the second frame lies against the first, three displacements [m] and the rotation vector [rad], and the rates
    of these. It returns six numbers S: the force [N] and torque [N m] that oppose z, so that -S acts on the second body, as k z + d z' of a
    bushing does.

        rubber = alphastep.Force(lambda t, z, rate: [k * z[0]**3, 0, 0, 0, 0, 0])
        model.forces.plugin("mount", plugin=rubber, bodies=["ground", "engine"], point=[0, 0, 0])
    """

    def __init__(self, function):
        if not callable(function):
            raise TypeError(f"{function!r} is not a function")
        self._function = function

    def _entry(self, name):
        return ("force", name, self._function)
