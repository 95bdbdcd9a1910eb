"""alphastep: machines that move, from model files or posed by functions of Python.

    import alphastep
    machine = alphastep.load("model.yaml", n=10)
    result = machine.run(t_end=2, rtol=1e-6)
    plt.plot(result.time, result["joints.pin.angle"])

Numbers come as NumPy arrays if NumPy is there, otherwise as memoryviews; units are SI, in Result.units.
"""

from ._core import version as __version__
from ._errors import Error, Interrupted, Message, ModelError, Warning
from ._functions import Block, Force
from ._machine import Equilibrium, Linear, Machine, Mode, load
from ._model import Model
from ._problem import Problem
from ._reduction import FlexibleBody, reduce
from ._result import Event, Motion, Result
from ._simulation import Simulation
from ._study import Study, study

__all__ = ["Block", "Equilibrium", "Error", "Event", "FlexibleBody", "Force", "Interrupted", "Linear", "Machine", "Message", "Mode", "Model", "ModelError",
           "Motion", "Problem", "Result", "Simulation", "Study", "Warning", "load", "reduce", "study"]
