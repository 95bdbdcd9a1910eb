#!/usr/bin/env python3
"""Reports: complete and true to the results for each example machine, safe whatever names say, bounded in size, plain
ones without a script, and made of what failed or was interrupted, too.

usage: report.py COMMAND SOURCE_DIR
"""

import base64
import csv
import html
import html.parser
import json
import math
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom
import zlib

COMMAND, SOURCE = (os.path.abspath(path) for path in sys.argv[1:])
PATIENCE = 600  # s
DATA = re.compile(r'<script type="application/json" id="alphastep-data">(.*?)</script>', re.S)
NASTY = '</script><img src=x onerror=alert(1)> "\\"\' & é'

PENDULUM = """alphastep: 1
title: Pendulum
gravity: [0, 0, -9.81]
bodies:
  bob: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
joints:
  pivot: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 1, step: 1.0e-3}
output: {interval: 0.01}
"""

STUCK = """alphastep: 1
bodies:
  bob: {type: point, mass: 1, position: [0.6, 0.8, 0]}
joints:
  rod: {type: distance, bodies: [ground, bob], point: [0, 0, 0], second_point: [0.6, 0.8, 0]}
  pull: {type: distance, bodies: [ground, bob], point: [3, 0, 0], second_point: [0.6, 0.8, 0],
         length: {table: [[0, 2.53], [0.5, 2.53], [1, 3], [2, 5]]}}
assemble: true
simulate: {t_end: 2, step: 0.01}
output: {interval: 0.05}
"""

KINDS = """alphastep: 1
gravity: [0, 0, -9.81]
bodies:
  one: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
  two: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [3, 0, 0]}
  sled: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 5, 0]}
  ball: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 9, 0.1]}
frames:
  hook: {body: ground, position: [0, 0, 2]}
  eye: {body: one, position: [0.5, 0, 0]}
joints:
  first: {type: revolute, bodies: [ground, one], point: [1, 0, 0], axis: [0, 1, 0]}
  second: {type: revolute, bodies: [ground, two], point: [3, 0, 0], axis: [0, 1, 0]}
  slide: {type: prismatic, bodies: [ground, sled], point: [0, 4, 0], axis: [1, 0, 0]}
  mesh: {type: gear, joints: [first, second], teeth: [20, 20]}
  teeth: {type: rack, pinion: first, rack: slide, radius: 0.1}
  roll: {type: rolling, shape: sphere, bodies: [ground, ball], radius: 0.1, point: [0, 0, 0], normal: [0, 0, 1], center: [0, 9, 0.1]}
forces:
  motor: {type: actuator, joint: second, force: 1 - joints.first.angle_rate}
  push: {type: actuator, joint: slide, force: sin(t)}
  line: {type: actuator, frames: [hook, eye], force: 2*t}
  wind: {type: load, body: two, point: [3, 0, 1], force: [sin(t), 0, 0]}
  plain: {type: load, body: two, point: [3, 0, 1], force: [1, 0, 0]}
  limit: {type: stop, joint: first, lower_deg: -30, upper_deg: 30, law: {stiffness: 100}}
  floor: {type: contact, bodies: [ground, one], point: [0, 0, -1], normal: [0, 0, 1], center: [1, 0, 0.3], radius: 0.1, law: {stiffness: 1000}}
  mount: {type: bushing, bodies: [ground, sled], point: [0, 5, -0.2], stiffness: [10, 10, 10, 1, 1, 1]}
  twist: {type: torsion, bodies: [ground, one], axis: [0, 1, 0], stiffness: 1}
  coil: {type: spring, bodies: [one, two], point: [1.5, 0, 0], second_point: [2.5, 0, 0], stiffness: 10}
simulate: {t_end: 0.1, step: 0.01}
"""

FAR = """alphastep: 1
bodies:
  cart:
    mass: 2
    inertia: [1, 1, 1]
    velocity: [20, 0, 0]
    shapes: [{type: box, size: [2, 1, 0.5]}, {type: wheel, radius: 0.2, width: 0.1}]
blocks:
  trembles: {type: signal, unit: m, formula: 1e-9*sin(t)}
  beats: {type: signal, unit: m, formula: 1e-3*sin(t)}
shapes: [{type: strip, points: [[-500, 0, -0.3], [500, 0, -0.3]], width: 4, dash: [3, 2]}]
repeat: [{to: 2, shapes: [{type: cone, radius: 0.2, top: 0.05, length: 0.5, position: [20*i, 1, 0]}]}]
simulate: {t_end: 4, step: 0.1}
output: {channels: [bodies, blocks]}
"""

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def run(*arguments, **options):
    return subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE, check=False, **options)


def expect(status, words, *arguments):
    result = run(*arguments)
    check(result.returncode == status, arguments, "exit status", result.returncode, "not", status, result.stderr)
    check(result.stderr == "" if words is None else words in result.stderr, arguments, "stderr:", result.stderr)
    return result


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def refuse(word):
    raise ValueError(word + " is not JSON")


INTERACTIVE = "built without Node" not in run("help", "report").stdout


# ---- what is in a page


def multiples(array, changes):
    """The table, row after row, of which there are differences of differences of its columns."""
    columns = array["columns"]
    check(array["n"] % columns == 0 and len(array["exponents"]) == columns, "an array of", array["n"], "in", columns, "columns")
    rows, table = array["n"] // columns, [0.0] * array["n"]
    for c, exponent in enumerate(array["exponents"]):
        last = step = 0
        for r in range(rows):
            change = changes[c * rows + r]
            step += change >> 1 if change % 2 == 0 else -(change >> 1) - 1
            last += step
            table[r * columns + c] = math.ldexp((last + 2**31) % 2**32 - 2**31, exponent)
    return table


def numbers(array):
    """Decodes an array, which must have as many numbers as it says."""
    code, size = {"f32": ("f", 4), "f64": ("d", 8), "u32": ("I", 4), "i32": ("I", 4)}[array["type"]]
    data = base64.b64decode(array["base64"], validate=True)
    if array.get("deflate"):
        data = zlib.decompress(data)
    if array.get("planes"):
        data = bytes(byte for number in zip(*(data[k * array["n"] : (k + 1) * array["n"]] for k in range(size))) for byte in number)
    check(len(data) == size * array["n"], "an array of", array["n"], "has", len(data), "bytes")
    if array["type"] == "i32":
        return multiples(array, struct.unpack(f"<{array['n']}I", data))
    return struct.unpack(f"<{array['n']}{code}", data)


def data_of(path):
    text = read(path)
    found = DATA.findall(text)
    check(len(found) == 1, path, "has", len(found), "elements with data")
    check(not re.search("[<>&\u2028\u2029]", found[0]), path, "has characters in its data that may break the page")
    return json.loads(found[0], parse_constant=refuse)


def table(folder):
    lines = list(csv.reader(read(folder + "/results.csv").splitlines()))
    rows = [[float(x) for x in line] for line in lines[1:]]
    return {name.rpartition(" [")[0]: list(column) for name, column in zip(lines[0], zip(*rows))}


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def near(a, b, size):
    """As good as numbers of 32 bits are."""
    return abs(a - b) <= 1e-6 * size + 1e-37 or (math.isnan(a) and math.isnan(b))


def check_channel(where, channel, column, time, frames, rows, pose):
    known = [x for x in column if not math.isnan(x)]  # the time of an event is not known before it
    size = max(abs(x) for x in known) or 1.0
    low, high = min(known), max(known)
    check(channel["min"] == low and channel["max"] == high, where, "extremes", channel["min"], low, channel["max"], high)
    check(column[time.index(channel["tmin"])] == low, where, "tmin", channel["tmin"])
    check(column[time.index(channel["tmax"])] == high, where, "tmax", channel["tmax"])
    if channel.get("constant"):
        check(low == high and known == column and "values" not in channel, where, "is not constant")
        return
    offset = channel.get("offset", 0.0)
    check("values" in channel or pose, where, "has no values")
    values = numbers(channel["values"]) if "values" in channel else pose
    check(len(values) == len(frames), where, "has", len(values), "values")
    for value, row in zip(values, frames):
        if not near(offset + value, column[row], min(size, 10 * (high - low))):
            check(False, where, "is", offset + value, "not", column[row], "in row", row)
            break
    if rows == len(frames):
        check("extremes" not in channel, where, "has extremes")
        return
    times, kept = numbers(channel["extremes"]["t"]), numbers(channel["extremes"]["value"])
    check(all(a <= b for a, b in zip(times, times[1:])), where, "extremes are not in order")
    check(near(min(kept) + offset, low, high - low) and near(max(kept) + offset, high, high - low), where, "lost an extreme")
    row_at = {t: i for i, t in enumerate(time)}
    check(all(near(offset + x, column[row_at[t]], high - low) for t, x in zip(times, kept)), where, "extremes are elsewhere")


def check_data(folder):
    """Everything that the contract with the page asks for, and numbers as in the results."""
    data, results = data_of(folder + "/report.html"), table(folder)
    time, scene = results["time"], data["scene"]
    rows, count = len(time), data["frames"]
    check(data["format"] == 1 and data["rows"] == rows and count <= rows, folder, data["rows"], count, rows)
    check(isinstance(data["title"], str) and "description" in data, folder, "has no title")
    check(data["summary"] == json.loads(read(folder + "/summary.json")), folder, "has another summary")
    check(all(set(source) == {"path", "text"} for source in data["model"]) and data["model"], folder, "has no model")
    check(set(scene) >= {"size", "gravity", "bodies", "shapes", "frames", "joints", "forces"}, folder, set(scene))
    frames = [int(i * (rows - 1) / max(count - 1, 1) + 0.5) for i in range(count)]
    check(list(numbers(data["time"])) == [time[row] for row in frames], folder, "times")
    poses, bodies = numbers(data["poses"]), scene["bodies"]
    check(len(poses) == 7 * count * len(bodies), folder, "has", len(poses), "numbers of poses")
    size = max(scene["size"], max((abs(x) for x in poses), default=1))
    parts = [f"position.{k}" for k in "xyz"] + [f"quaternion.{k}" for k in "wxyz"]
    columns = {f"bodies.{body['name']}.{part}": poses[7 * number + k::7 * len(bodies)] for number, body in enumerate(bodies) for k, part in enumerate(parts)}
    for number, body in enumerate(bodies):
        for k, axis in enumerate("xyz"):
            column = results.get(f"bodies.{body['name']}.position.{axis}")
            if column:
                there = [poses[7 * (i * len(bodies) + number) + k] for i in range(count)]
                check(all(near(x, column[row], size) for x, row in zip(there, frames)), folder, body["name"], "position", axis)
        places = [7 * (i * len(bodies) + number) + 3 for i in range(count)]
        lengths = [sum(x * x for x in poses[at:at + 4]) for at in places]
        check(all(abs(x - 1) < 1e-5 for x in lengths), folder, body["name"], "quaternion")
    check_scene(folder, scene)
    named = {channel["name"]: channel for channel in data["channels"]}
    for name, column in results.items():
        if name != "time" and name in named:
            check_channel(f"{folder} {name}", named[name], column, time, frames, rows, columns.get(name))
        elif name != "time":
            check(len(bodies) > 100 and re.match(r"bodies\..*\.(position|quaternion)\..$", name), folder, "lacks", name)
    return data


def check_scene(folder, scene):
    n = len(scene["bodies"])
    for shape in scene["shapes"]:
        check(-1 <= shape["body"] < n and len(shape["position"]) == 3 and len(shape["quaternion"]) == 4, folder, shape)
        fields = {"box": ["size"], "sphere": ["radius"], "cylinder": ["radius", "length"], "capsule": ["radius", "length"],
                  "polyline": ["points", "radius"], "mesh": [], "cone": ["radius", "top", "length"], "wheel": ["radius", "length"],
                  "strip": ["points", "width"]}[shape["kind"]]
        check(all(field in shape for field in fields), folder, shape)
    for thing in scene["joints"] + scene["forces"]:
        check(len(thing["bodies"]) == len(thing["points"]) > 0, folder, thing)
        check(all(-1 <= body < n for body in thing["bodies"]), folder, thing)
        check(all(len(point) == 3 for point in thing["points"]), folder, thing)


# ---- pages


class Title(html.parser.HTMLParser):
    """What a browser would find: the title, scripts, attributes that run something."""

    def __init__(self):
        super().__init__()
        self.inside, self.title, self.scripts, self.handlers, self.images = False, "", 0, [], 0

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "title"
        self.scripts += tag == "script"
        self.images += tag == "img"
        self.handlers += [name for name, _ in attributes if name.startswith("on")]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.title += data


def look(path):
    page = Title()
    page.feed(read(path))
    return page


def check_plain(folder):
    path = folder + "/plain.html"
    expect(0, None, "report", folder, "--plain", "-o", path, "--quiet")
    text = read(path)
    xml.dom.minidom.parseString(text.encode())  # well-formed
    page = look(path)
    check(page.scripts == 0 and not page.handlers and page.images == 0, path, "has a script or a handler")
    check("http" not in text.replace("http://www.w3.org/", "").replace("http-equiv", ""), path, "refers to elsewhere")
    return text


def test_examples():
    folder = os.path.join(SOURCE, "examples/machines")
    for name in sorted(os.listdir(folder)):
        model = os.path.join(folder, name, "model.yaml")
        if not os.path.exists(model):
            continue
        expect(0, None, "run", model, "-o", name, "-q")
        text = check_plain(name)
        check('class="view"' in text and "energy" in text.lower(), name, "plain report lacks drawings or plots")
        if INTERACTIVE:
            data = check_data(name)
            check(data["complete"] is True, name, "is not complete")
        check(os.path.getsize(name + "/report.html") < 5e6, name, os.path.getsize(name + "/report.html"))


def test_thinned():
    model = write("pendulum.yaml", PENDULUM)
    expect(0, None, "run", model, "-o", "fine", "-q", "--set", "output.interval=1e-4", "--set", "simulate.step=1e-2")
    check_plain("fine")
    if INTERACTIVE:
        data = check_data("fine")
        check(data["rows"] == 10001 and 2 < data["frames"] < 5000, data["rows"], data["frames"])
    check(os.path.getsize("fine/report.html") < 5e6, os.path.getsize("fine/report.html"))


def test_large():
    model = os.path.join(SOURCE, "examples/machines/chain/model.yaml")
    expect(0, None, "run", model, "-o", "large", "-q", "--set", "parameters.n=1000", "--set", "simulate.t_end=0.01",
           "--set", "output.interval=2e-4", "--set", "output.channels=[bodies.*.position, bodies.*.velocity, energy]")
    size = os.path.getsize("large/report.html")
    check(1e6 < size < 30e6, "a report of 1000 bodies has", size, "bytes")
    if INTERACTIVE:
        data = check_data("large")
        check(len(data["scene"]["bodies"]) == 1000 and data["frames"] > 40, data["frames"], data["rows"])


def test_names():
    text = PENDULUM.replace("title: Pendulum", "title: " + json.dumps(NASTY) + "\ndescription: " + json.dumps(NASTY))
    text = text.replace("bob", "'<img src=x onerror=alert(1)> \"&'").replace("pivot", "'</b>'".replace("/", ""))
    expect(0, None, "run", write("nasty.yaml", text), "-o", "nasty", "-q")
    plain = check_plain("nasty")
    check("<img" not in plain and look("nasty/plain.html").title == NASTY, "plain title:", look("nasty/plain.html").title)
    if not INTERACTIVE:
        return
    data = check_data("nasty")
    check(data["title"] == NASTY and data["description"] == NASTY, "title:", data["title"])
    check(data["scene"]["bodies"][0]["name"] == '<img src=x onerror=alert(1)> "&', data["scene"]["bodies"][0])
    check(data["model"][0]["text"] == text, "the model's text is another")
    page, usual = look("nasty/report.html"), look("fine/report.html")
    check(page.title == NASTY, "title:", page.title)
    check(page.scripts == usual.scripts and page.handlers == usual.handlers and page.images == usual.images,
          "names have become elements", page.scripts, page.handlers, page.images)


def test_meshes():
    os.mkdir("meshes")
    write("meshes/a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3 4\n")
    text = PENDULUM.replace("position: [1, 0, 0]}", "position: [1, 0, 0], shapes: ["
                            "{type: mesh, file: a.obj, scale: 0.5}, {type: mesh, file: a.obj, scale: 0.5, position: [1, 0, 0]}]}")
    model = write("meshes/model.yaml", text)
    expect(0, None, "check", model)
    expect(0, None, "run", model, "-o", "mesh", "-q")
    check_plain("mesh")
    if INTERACTIVE:
        first, second = check_data("mesh")["scene"]["shapes"]
        check(numbers(first["triangles"])[:9] == (0, 0, 0, 0.5, 0, 0, 0, 0.5, 0), first)
        check(second["triangles_of"] == 0 and "triangles" not in second, second)
    write("meshes/a.obj", "v 1e30 0 0\nv 0 1e30 0\nv 0 0 1\nf 1 2 3\n")
    expect(2, "the mesh meshes/a.obj has numbers that are too large", "check", write("meshes/large.yaml", text.replace("0.5", "1e30")))
    write("meshes/a.obj", "v 0 0 0\nf 1 2 3\n")
    for command in ("check", "run"):
        expect(2, "model.yaml:5:74: error: bodies.bob.shapes.0: meshes/a.obj:2: There is no vertex 2", command, model)
    os.remove("meshes/a.obj")
    expect(4, "meshes/a.obj cannot be opened", "check", model)


def test_flexible():
    """The boxes of the satellite's panels, 5 m by 1.5 m on a hub of 1.2 m, which turns by 30 degrees about y."""
    expect(0, None, "run", os.path.join(SOURCE, "examples/machines/flexible-satellite/model.yaml"), "-o", "panels", "-q")
    views = re.findall('<svg class="view".*?</svg>', check_plain("panels"), re.S)

    def spans(view):
        outlines = [re.findall(r"([-0-9.]+) ([-0-9.]+)", d) for d in re.findall('class="shape"[^>]* d="([^"]*)"', view)]
        boxes = [[sorted(float(p[k]) for p in points) for k in range(2)] for points in outlines]
        return [(x[0], x[-1], y[-1] - y[0]) for x, y in boxes]

    first, last = spans(views[8]), spans(views[3])  # from above at the start, from the front at the end
    hub = next(b for b in first if abs(b[1] - b[0] - b[2]) < 0.2 and b[2] > 20)
    metre = (hub[1] - hub[0]) / 1.2
    for left in (hub[1], hub[0] - 5 * metre):
        panel = [b for b in first if abs(b[0] - left) < 1 and abs(b[1] - left - 5 * metre) < 1 and abs(b[2] - 1.5 * metre) < 1]
        check(len(panel) == 1, "no panel at", left, "in", first)
    slopes = sorted(round(y / (right - left), 2) for left, right, y in last if right - left > 80)
    check(len(slopes) == 2 and all(abs(s - 0.577) < 0.02 for s in slopes), "the panels do not turn with the hub:", last)


def test_far():
    """A cart of 2 m goes 80 m along x: it is drawn where it is, all drawings of one size; what stands still is not plotted."""
    expect(0, None, "run", write("cart.yaml", FAR), "-o", "cart", "-q")
    text = check_plain("cart")
    views = re.findall('<svg class="view" width="([0-9]+)".*?</svg>', text, re.S)
    drawings = re.findall('<svg class="view".*?</svg>', text, re.S)
    check(len(drawings) == 12 and len(set(views[:4])) == 1, "drawings are of different sizes", views)
    for drawing in drawings[:4]:  # from the front
        outlines = [[float(x) for x, _ in re.findall(r"([-0-9.]+) ([-0-9.]+)", d)] for d in re.findall('class="shape"[^>]* d="([^"]*)"', drawing)]
        across = max(outlines, key=lambda xs: max(xs) - min(xs))
        check(max(across) - min(across) > 100 and abs(max(across) + min(across) - float(views[0])) < 3, "the cart is not in the middle", across, views[0])
    check(any('class="strip"' in drawing for drawing in drawings), "no road is drawn")
    drawn = re.findall("<figcaption>([^<]*?)(?: ...)?</figcaption>", text)
    check("bodies.cart.position.x" in drawn and "bodies.cart.velocity.x" not in drawn and "blocks.trembles" not in drawn and "blocks.beats" in drawn, drawn)
    check("do not change by more than round-off" in text, "it does not say what is left out")
    if not INTERACTIVE:
        return
    data = check_data("cart")
    check(abs(data["scene"]["size"] - 2) < 1e-9, "the road counts for the machine's size:", data["scene"]["size"])
    kinds = [shape["kind"] for shape in data["scene"]["shapes"]]
    check(sorted(kinds) == ["box", "cone", "cone", "strip", "wheel"], kinds)
    strip = next(shape for shape in data["scene"]["shapes"] if shape["kind"] == "strip")
    check(strip["width"] == 4 and strip["dash"] == [3, 2] and len(strip["points"]) == 2, strip)


def test_small():
    """A page of 53 bodies, 600 rows and 300 channels takes a few hundred kilobytes."""
    text = read(os.path.join(SOURCE, "examples/machines/chain/model.yaml")).replace("  n: 10\n", "  n: 53\n")
    text = re.sub("output:.*", 'output: {interval: 0.00167, channels: ["bodies.*.position", "joints.*.force", energy]}', text)
    expect(0, None, "run", write("small.yaml", text), "-o", "small", "-q")
    if INTERACTIVE:
        check_data("small")
        size = os.path.getsize("small/report.html")
        check(size < 800e3, "the page has", size, "bytes")


def test_kinds():
    """Joints and forces are where the file has them, in the world at the start."""
    expect(0, None, "run", write("kinds.yaml", KINDS), "-o", "kinds", "-q")
    check_plain("kinds")
    if not INTERACTIVE:
        return
    data = check_data("kinds")
    scene, poses = data["scene"], numbers(data["poses"])

    def world(body, point):
        origin = poses[7 * body:7 * body + 3] if body >= 0 else (0, 0, 0)
        return [round(a + b, 6) + 0.0 for a, b in zip(origin, point)]

    things = {thing["name"]: thing for thing in scene["joints"] + scene["forces"]}
    there = {name: (thing["kind"], [world(*pair) for pair in zip(thing["bodies"], thing["points"])])
             for name, thing in things.items()}
    twice = lambda *point: [list(point), list(point)]
    expected = {
        "first": ("revolute", twice(1, 0, 0)), "second": ("revolute", twice(3, 0, 0)), "slide": ("prismatic", twice(0, 4, 0)),
        "mesh": ("coupling", [[1, 0, 0], [3, 0, 0]]), "teeth": ("coupling", [[1, 0, 0], [0, 4, 0]]),
        "roll": ("rolling", [[0, 0, 0], [0, 9, 0.1]]), "motor": ("motor", twice(3, 0, 0)), "push": ("actuator", twice(0, 4, 0)),
        "line": ("actuator", [[0, 0, 2], [1.5, 0, 0]]), "wind": ("load", [[3, 0, 1]]), "plain": ("load", [[3, 0, 1]]),
        "limit": ("stop", twice(1, 0, 0)), "floor": ("contact", [[0, 0, -1], [1, 0, 0.3]]), "mount": ("bushing", twice(0, 5, -0.2)),
        "twist": ("torsion", twice(1, 0, 0)), "coil": ("spring", [[1.5, 0, 0], [2.5, 0, 0]]),
    }
    for name, what in expected.items():
        check(there.get(name) == what, name, there.get(name), "not", what)
    check(set(there) == set(expected), set(there) ^ set(expected))
    far = "alphastep: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], position: [1000, 0, 0]}}\njoints: {pin: {type: revolute, " \
          "bodies: [ground, a], point: [1001, 0, 0], axis: [0, 0, 1]}}\nforces: {twist: {type: torsion, bodies: [ground, a], " \
          "axis: [0, 0, 1], stiffness: 1}}\nsimulate: {t_end: 0.1, step: 0.01}\n"
    expect(0, None, "run", write("far.yaml", far), "-o", "far", "-q")
    check(data_of("far/report.html")["scene"]["size"] < 5, "a torsional spring stretches the scene")


EVENTS = """alphastep: 1
bodies: {a: {type: point, mass: 1, velocity: [1, 0, 0]}}
events:
  often: {when: sin(4000*t), log: "again & <again>"}
  late: {when: bodies.a.position.x - 0.9, stop: true}
simulate: {t_end: 1, step: 5.0e-4}
output: {interval: 0.01, channels: [events, energy, bodies]}
"""


def test_events():
    expect(0, None, "run", write("events.yaml", EVENTS), "-o", "events", "-q")
    text = check_plain("events")
    all_events = json.loads(read("events/summary.json"))["number_of_events"]
    check(all_events > 1000, "only", all_events, "events")
    for words in (f"The first 1000 of {all_events} events.", "again &#38; &#60;again&#62;", "The run is stopped"):
        check(words in text, "the plain report lacks", words)
    if not INTERACTIVE:
        return
    data = check_data("events")
    check(data["complete"] is True and len(data["events"]) == 1000, data["complete"], len(data["events"]))
    check(data["events"][0]["text"] == "again & <again>", data["events"][0])
    late = next(channel for channel in data["channels"] if channel["name"] == "events.late.time")
    check(abs(late["min"] - 0.9) < 1e-9 and math.isnan(numbers(late["values"])[0]), late)


def test_warned():
    """What is said about a run is in its report, and how fast a resumed part of it was."""
    twice = PENDULUM.replace("joints:", "joints:\n  again: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}")
    expect(0, "warning", "run", write("warned.yaml", twice), "-o", "warned")
    warnings = json.loads(read("warned/summary.json"))["warnings"]
    check(len(warnings) == 1 and "redundant" in warnings[0], warnings)
    check(warnings[0][:40] in html.unescape(check_plain("warned")), "the plain report lacks the warning")
    expect(0, None, "run", "pendulum.yaml", "-o", "later", "-q")
    expect(0, None, "run", "--resume", "later", "-q", "--set", "simulate.t_end=1.5")
    summary = json.loads(read("later/summary.json"))
    check(summary["t"] == 1.5 and summary["resumed_at"] == 1.0, summary)
    found = re.search(r"real-time factor</td><td>([^ ]*) ", check_plain("later"))
    check(found and abs(float(found[1]) * summary["seconds"] / 0.5 - 1) < 0.01, found and found[1], summary["seconds"])


def test_left():
    """A body that goes where numbers end, and one that hardly moves."""
    model = "alphastep: 1\nbodies: {a: {type: point, mass: 1, velocity: [1.0e300, 0, 0]}, b: {type: point, mass: 1, " \
            "position: [0, 1, 0], velocity: [0, 0, 1.0e-322]}}\nsimulate: {t_end: 1, step: 0.1}\n" \
            "output: {interval: 0.1, channels: [bodies, energy]}\n"
    for end in ("1", "1.0e+9"):
        expect(0, None, "run", write("left.yaml", model), "-o", "left", "-q", "--force", "--set", "simulate.t_end=" + end,
               "--set", "simulate.step=" + end, "--set", "output.interval=" + end)
        text = check_plain("left")
        check(not re.search(r'="[^"]*\b(nan|inf)\b', text), "the plain report draws", re.search(r'="[^"]*\b(nan|inf)\b[^"]*"', text))


# ---- runs that did not come to their end


def test_failed():
    expect(3, "t = 1.", "run", write("stuck.yaml", STUCK), "-o", "stuck")
    text = check_plain("stuck")
    check("The run is failed" in text and 'class="bad"' in text, "the plain report does not tell a failure")
    if INTERACTIVE:
        data = check_data("stuck")
        check(data["complete"] is False and data["summary"]["status"] == "failed", data["summary"])


def test_interrupted():
    process = subprocess.Popen(
        [COMMAND, "run", "pendulum.yaml", "-o", "cut", "--set", "simulate.t_end=100000", "--set", "output.interval=100"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while not (os.path.exists("cut/results.csv") and read("cut/results.csv").count("\n") > 1) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=PATIENCE)
    check(process.returncode == 130, "exit status", process.returncode)
    check("interrupted" in check_plain("cut"), "the plain report does not tell an interruption")
    if INTERACTIVE:
        check(check_data("cut")["complete"] is False, "an interrupted run is complete")


# ---- the command


def test_command():
    expect(2, "Which folder", "report")
    expect(2, "One folder", "report", "fine", "large")
    expect(2, "--nonsense", "report", "fine", "--nonsense")
    expect(2, "`-o` needs", "report", "fine", "-o")
    expect(4, "nothing/", "report", "nothing")
    for own in ("results.h5", "results.csv", "summary.json", "state.bin"):
        before = os.stat("fine/" + own)
        expect(2, "belongs to the run in `fine`", "report", "fine", "-o", "./fine/../fine/" + own)
        check(os.stat("fine/" + own) == before, own, "was touched")
    expect(0, None, "run", "pendulum.yaml", "-o", "without", "-q", "--no-report")
    check(not os.path.exists("without/report.html"), "--no-report makes a report")
    expect(0, None, "run", "pendulum.yaml", "-o", "names", "-q")
    expect(0, None, "run", "pendulum.yaml", "-o", "names", "-q", "--no-report", "--force")
    check(not os.path.exists("names/report.html"), "the report of an earlier run is still there")
    shutil.copytree("without", "elsewhere")
    os.remove("elsewhere/state.bin")
    result = expect(0, None, "report", "elsewhere")
    check(result.stdout == "The report is elsewhere/report.html.\n", result.stdout)
    check(sorted(set(os.listdir("elsewhere")) - set(os.listdir("without"))) == ["report.html"], os.listdir("elsewhere"))
    before = read("elsewhere/report.html")
    result = expect(0, None, "report", "elsewhere", "-o", "copy.html", "--quiet")
    check(result.stdout == "" and read("copy.html") == before, "the same again is another page")
    write("elsewhere/summary.json", '{"status": "done"')
    expect(4, "summary.json cannot be read: it is not a JSON object", "report", "elsewhere")
    check(read("elsewhere/report.html") == before and "report.html.new" not in os.listdir("elsewhere"), "the old page is lost")
    os.remove("elsewhere/summary.json")
    expect(4, "summary.json cannot be read: No such file", "report", "elsewhere")
    write("elsewhere/results.h5", "no results")
    shutil.copy("without/summary.json", "elsewhere/summary.json")
    expect(4, "results.h5", "report", "elsewhere")
    os.mkdir("taken")
    os.mkdir("taken/report.html")
    expect(4, "report.html", "run", "pendulum.yaml", "-o", "taken", "--force", "-q")
    check(os.listdir("taken/report.html") == [], "a folder in the report's place")
    os.mkfifo("pipe.html")
    for command in (["report", "without", "-o", "pipe.html", "-q"], ["export", "without", "-o", "pipe.html"],
                    ["papers", "ch-order-q", "--report", "pipe.html"]):
        expect(4, "it is no file, but a folder, a device or a pipe", *command)
        check(stat.S_ISFIFO(os.stat("pipe.html").st_mode), command, "the pipe is gone")
    result = expect(0, None, "run", "pendulum.yaml", "-o", "told")
    check("The report is told/report.html." in result.stdout, result.stdout)


def test_locale():
    result = run("report", "without", "-o", "german.html", "--quiet", env={**os.environ, "LC_ALL": "de_DE.UTF-8"})
    expect(0, None, "report", "without", "-o", "plain-words.html", "--quiet")
    check(result.returncode == 0 and read("german.html") == read("plain-words.html"), "the report depends on the locale")


def main():
    with tempfile.TemporaryDirectory(prefix="alphastep-") as folder:
        os.chdir(folder)
        for test in (test_examples, test_thinned, test_names, test_large, test_meshes, test_flexible, test_far, test_small, test_kinds, test_events, test_warned,
                     test_left, test_failed, test_interrupted, test_command, test_locale):
            began = time.monotonic()
            try:
                test()
            except Exception as error:  # pylint: disable=broad-except
                check(False, test.__name__, "ended with", repr(error))
            if os.environ.get("VERBOSE"):
                print(test.__name__, round(time.monotonic() - began, 2), "s")
        os.chdir("/")
    for failure in failures[:40]:
        print("FAILED:", failure[:600])
    if not INTERACTIVE:
        print("built without Node: only plain reports were looked at")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
