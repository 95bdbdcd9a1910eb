"""What tolerances of its lengths do to a four-bar linkage: 200 machines at random, and the histogram of how far the rocker swings.

Each length is off by 2 mm (standard deviation). The spread is compared with that of the linear estimate, by four differences.
Draws the histogram with matplotlib if that is there: tolerances.png, where a name is given.
"""

import math
import pathlib
import statistics
import sys

import alphastep

linkage = pathlib.Path(__file__).parent.parent / "machines" / "four-bar" / "model.yaml"
lengths = {"crank": 1.0, "coupler": 3.0, "rocker": 2.5, "base": 3.0}
sigma = 0.002
kept = {"most": {"max": "joints.base.angle"}, "least": {"min": "joints.base.angle"}}


def swing(study):
    """How far the rocker swings [degrees], of each run."""
    return [math.degrees(a - b) for a, b in zip(study["most"], study["least"])]


drawn = alphastep.study(linkage, parameters={name: {"normal": [x, sigma]} for name, x in lengths.items()}, results=kept, runs=200, seed=1, interval=0.02)
angles = swing(drawn)
mean, deviation = statistics.mean(angles), statistics.stdev(angles)

slopes = []
for name, x in lengths.items():
    two = swing(alphastep.study(linkage, parameters={name: [x - sigma, x + sigma]}, results=kept, interval=0.02))
    slopes.append((two[1] - two[0]) / 2)
linear = math.sqrt(sum(s * s for s in slopes))
print(f"{drawn.status.count('done')} runs: {mean:.2f} degrees, standard deviation {deviation:.3f}; linear estimate {linear:.3f}")

low, width = mean - 3 * deviation, 0.75 * deviation
for i in range(8):
    count = sum(low + i * width <= a < low + (i + 1) * width for a in angles)
    print(f"{low + i * width:7.2f} {'#' * (count // 2)}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.hist(angles, bins=30)
    plt.xlabel("swing of the rocker [degrees]")
    plt.savefig(sys.argv[1], dpi=80)
