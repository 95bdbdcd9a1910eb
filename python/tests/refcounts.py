"""References are given back: everything once, again and again, by an interpreter that counts all references (Debian: python3-dbg) and an extension
module that was compiled for it.

usage: python3-dbg refcounts.py      exit status 1: their number grows
"""

import gc
import sys

sys.modules["numpy"] = None  # which is not made for this interpreter
import alphastep

X = "joints.rail.displacement"


def broken(t, w):
    raise LookupError("no data")


def everything():
    model = alphastep.Model()
    model.bodies.rigid("cart", mass=2, inertia=[1, 1, 1])
    model.joints.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
    model.blocks.plugin("c", plugin=alphastep.Block(lambda t, w: 1 - 3 * w[0], inputs=["x"]), inputs={"x": X})
    model.blocks.input("in")
    model.forces.actuator("push", joint="rail", force="blocks.c + blocks.in")
    model.forces.plugin("soft", plugin=alphastep.Force(lambda t, z, rate: [z[0], 0, 0, 0, 0, 0]), bodies=["ground", "cart"], point=[0, 0, 0])
    model.simulate(t_end=0.2, step=0.01)
    machine = model.build()
    machine.check()
    result = machine.run(accuracy=True, channels=[X])
    result[X], result.error[X], result.error.largest(X), result.events, result.statistics
    sim = machine.start(X)
    sim.advance(0.1, [1.0])
    sim.set(**{"in": 2.0})
    sim.next()
    sim.load(sim.save())
    sim.q, sim.row, sim.statistics, sim.events
    machine.linearize(outputs=[X])
    machine.equilibrium([X])
    machine.modes()
    wrong = alphastep.Block(broken, inputs=["x"])
    model.blocks["c"]["plugin"] = wrong
    failing = model.build()
    for call, kind in ((lambda: machine.run(step=-1), alphastep.Error), (failing.run, LookupError), (lambda: failing.equilibrium([X]), LookupError),
                       (failing.start, LookupError), (lambda: sim.advance(0.5, [1, 2]), ValueError), (lambda: sim.load(b"?"), alphastep.Error),
                       (lambda: alphastep.load({"alphastep": 1, "bodis": 2}), alphastep.ModelError), (lambda: machine.run(channels=["x"]), alphastep.Error),
                       (lambda: machine.inverse([0, 1]), alphastep.Error), (lambda: alphastep.Block(3), TypeError)):
        try:
            call()
        except kind:
            pass
        else:
            raise AssertionError(f"{kind} was not raised")
    alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [-q[0]]).solve([0, 0.1], [1.0])
    alphastep.study({"alphastep": 1, "parameters": {"m": 1}, "bodies": {"a": {"type": "point", "mass": "m"}}, "simulate": {"t_end": 0.1, "step": 0.01}},
                    parameters={"m": [1, 2]}, results={"e": {"last": "bodies.a.position.x"}}, threads=2)


def main():
    counts = []
    for _ in range(7):
        everything()
        gc.collect()
        counts.append(sys.gettotalrefcount())
    print(counts)
    return 1 if counts[-1] - counts[2] - 4 > 2 else 0  # the list itself holds one more each time; one that is lost each time would be four


if __name__ == "__main__":
    sys.exit(main())
