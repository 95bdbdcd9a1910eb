#!/usr/bin/env python3
"""Power that is lost at any moment: results can be read, and a run that is resumed gives the same bytes as one that never
was interrupted.

usage: power_loss.py COMMAND RECORDER [TRIALS [SEED]]

The writes of a run are recorded (power/record.c) and played back up to some moment. What had been forced to the disk is there. Of
what had not, each write, cut and change of names may be lost, halved (writes) or come before others.
"""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

COMMAND, RECORDER = sys.argv[1], sys.argv[2]
TRIALS = int(sys.argv[3]) if len(sys.argv) > 3 else 25
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
PATIENCE = 600  # s
LAST = 40  # records of a run after which it is killed
QUIET = ("-q", "--no-report", "--no-sync")

MODEL = """alphastep: 1
parameters: {m: 1}
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: m, inertia: [0.1, 0.1, 0.01], position: [0.5, 0, 0]}
joints:
  pivot: {type: revolute, bodies: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 3, step: 0.005}
output: {interval: 0.01}
"""

# A stone falls on a spring and is stopped on its way up, inside a step and between two rows, by an event that also changes something.
STOPPED = """alphastep: 1
gravity: [0, 0, -9.81]
parameters: {k: 0}
bodies:
  stone: {type: point, mass: 1, position: [0, 0, 0.2]}
forces:
  spring: {type: spring, bodies: [ground, stone], point: [0, 0, -1], second_point: [0, 0, 0.2], length: 1, law: k*deflection}
events:
  floor: {when: bodies.stone.position.z, direction: falling, set: {k: 500}}
  up: {when: bodies.stone.velocity.z - 0.5, direction: rising, set: {k: 300}, stop: true, log: it is up again}
output: {interval: 0.01}
simulate: {"""


class Lost(Exception):
    pass


def run(*arguments, log=None):
    env = dict(os.environ)
    if log:
        env.update(LD_PRELOAD=" ".join(filter(None, (RECORDER, env.get("LD_PRELOAD")))), POWER_LOG=log)
    return subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, env=env, check=False)


def must(*arguments, log=None):
    result = run(*arguments, log=log)
    if result.returncode != 0:
        raise Lost(f"{' '.join(arguments)}: exit status {result.returncode}, {result.stderr.decode()}")
    return result.stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- recording and playing back


def read_log(path):
    data, at, records = read(path), 0, []
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split(" ")
        size = int(words[-1])
        records.append((words[0], words[1:-1], data[end + 1:end + 1 + size]))
        at = end + 1 + size
    return records


class Disk:
    """What is there for sure, and what has been asked for since."""

    def __init__(self, folder):
        self.contents, self.waiting = {}, {}  # of files, by their IDs
        self.names, self.changes = {}, []  # of the folder
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            self.names[path] = f"i{os.stat(path).st_ino}"
            self.contents[self.names[path]] = read(path)

    def do(self, kind, words, data):
        if kind in ("write", "cut"):
            self.waiting.setdefault(words[0], []).append((kind, int(words[1]), data))
        elif kind == "sync":
            self.contents[words[0]], self.waiting[words[0]] = data, []
        elif kind == "folder":
            for change in self.changes:
                self.change(self.names, change)
            self.changes = []
        else:
            if kind == "rename" and self.latest(words[0]) != data:  # by stdio, unseen
                self.waiting.setdefault(words[0], []).append(("write", 0, data))
            self.changes.append((kind, *words))

    @staticmethod
    def apply(contents, kind, at, data):
        if kind == "cut":
            return contents[:at] + bytes(max(0, at - len(contents)))
        contents += bytes(max(0, at - len(contents)))
        return contents[:at] + data + contents[at + len(data):]

    def latest(self, name):
        contents = self.contents.get(name, b"")
        for change in self.waiting.get(name, ()):
            contents = self.apply(contents, *change)
        return contents

    @staticmethod
    def change(names, change):
        kind, *words = change
        if kind == "create":
            names[words[1]] = words[0]
        elif kind == "remove":
            names.pop(words[0], None)
        elif kind == "rename":
            if names.get(words[1]) == words[0]:
                del names[words[1]]
            names[words[2]] = words[0]

    def kill(self, folder):
        """Leaves in `folder` what is there if only the process ends."""
        names = dict(self.names)
        for change in self.changes:
            self.change(names, change)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for path, name in names.items():
            with open(os.path.join(folder, os.path.basename(path)), "wb") as file:
                file.write(self.latest(name))

    def lose_power(self, dice, folder):
        """Leaves in `folder` what may be there afterwards."""
        names, changes = dict(self.names), list(self.changes)
        orderly = dice.random() < 0.5  # as with a journal of names
        if orderly:
            changes = changes[:dice.randint(0, len(changes))]
        else:
            changes = [change for change in changes if dice.random() < 0.5]
            dice.shuffle(changes)
        for change in changes:
            self.change(names, change)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for path, name in names.items():
            contents, waiting = self.contents.get(name, b""), list(self.waiting.get(name, ()))
            if dice.random() < 0.5:
                dice.shuffle(waiting)
            for kind, at, data in waiting:
                fate = dice.choice(("whole", "half", "lost"))
                if fate == "half":
                    data = data[:dice.randint(0, len(data))]
                if fate != "lost":
                    contents = self.apply(contents, kind, at, data)
            with open(os.path.join(folder, os.path.basename(path)), "wb") as file:
                file.write(contents)


# ---- what must be


class Whole:
    """A run that was never interrupted."""

    def __init__(self, *arguments):
        self.arguments = arguments
        must("run", *arguments, "-o", "whole", "--force", *QUIET)
        self.rows, self.table = must("export", "whole"), read("whole/results.csv")


def check_folder(wholes):
    """Reads what is left of one of these runs and goes on with it. Returns whether there was something to go on with."""
    saved, left = os.path.exists("out/state.bin"), os.path.exists("out/results.h5")
    rows = must("export", "out") if left else b""
    if not any(whole.rows.startswith(rows) for whole in wholes):
        raise Lost("results.h5 has other rows")
    if saved:
        must("run", "--resume", "out", *QUIET)
    else:
        must("run", *wholes[-1].arguments, "-o", "out", "--force", *QUIET)
    rows, table = must("export", "out"), read("out/results.csv")
    if not any(whole.rows == rows and whole.table == table for whole in wholes):
        raise Lost("results.h5 or results.csv is another one afterwards")
    return saved


def play(what, before, log, trials, wholes):
    records, saved = read_log(log), 0
    syncs = sum(kind == "sync" for kind, _, _ in records)
    if syncs < 20:
        raise Lost(f"{what}: only {syncs} files were forced to the disk")
    for trial in range(trials):
        dice = random.Random(1000 * SEED + trial)
        disk, end = copy.deepcopy(before), dice.randint(0, 40 if trial % 4 == 0 else len(records))
        for record in records[:end]:
            disk.do(*record)
        disk.lose_power(dice, "out")
        try:
            saved += check_folder(wholes)
        except Lost as lost:
            raise Lost(f"{what}, trial {trial}, after {end} of {len(records)} records: {lost}") from lost
    print(f"{what}: {trials} trials, {syncs} syncs, {saved} resumed", flush=True)
    return saved


def summary(folder):
    """All that does not depend on the clock, or on who has been waited for."""
    told = json.loads(read(f"{folder}/summary.json"))
    return {name: value for name, value in told.items() if name not in ("digest", "seconds", "resumed_at")}


def play_kills(name, how):
    """A run that an event stops, or that reaches its end, is killed after each of its last records: it ends as it would have."""
    with open(f"{name}.yaml", "w", encoding="utf-8") as file:
        file.write(STOPPED + how + "}\n")
    whole = Whole(f"{name}.yaml")
    end = summary("whole")
    if end["status"] != ("stopped" if "t_end: 3" in how else "done"):
        raise Lost(f"{name}: {end['status']}")
    shutil.rmtree("out", ignore_errors=True)
    must("run", f"{name}.yaml", "-o", "out", "-q", "--no-report", log=f"{name}.log")
    records, disk, resumed = read_log(f"{name}.log"), Disk("empty"), 0
    for number, record in enumerate(records):
        disk.do(*record)
        if number < len(records) - LAST:
            continue
        disk.kill("out")
        try:
            if os.path.exists("out/summary.json") and summary("out")["status"] == "running":
                check_folder([whole])
                if summary("out") != end:
                    raise Lost(f"another summary: {summary('out')}, not {end}")
                resumed += 1
            elif (must("export", "out"), read("out/results.csv")) != (whole.rows, whole.table):
                raise Lost("the summary says that it has ended, and there are other rows")
        except Lost as lost:
            raise Lost(f"{name}, killed after {number + 1} of {len(records)} records: {lost}") from lost
    if resumed < 5 or summary("out") != end:
        raise Lost(f"{name}: {resumed} resumed, at last {summary('out')['status']}")
    print(f"{name}: killed after each of the last {min(LAST, len(records))} records, {resumed} resumed", flush=True)


def main():
    play_kills("a run that is stopped", "t_end: 3, step: 0.007")
    play_kills("a run with automatic steps that is stopped", "t_end: 3, tol: {rtol: 1.0e-4}, accuracy: true")
    play_kills("a run to its end", "t_end: 0.21, step: 0.007")
    with open("model.yaml", "w", encoding="utf-8") as file:
        file.write(MODEL)
    whole, other = Whole("model.yaml"), Whole("model.yaml", "--set", "parameters.m=2", "--set", "simulate.step=0.006")
    empty = Disk("empty")
    shutil.rmtree("out")
    must("run", "model.yaml", "-o", "out", "-q", log="new.log")
    saved = play("a new run", empty, "new.log", TRIALS, [whole])

    records = read_log("new.log")
    disk, dice = Disk("empty"), random.Random(SEED)
    for record in records[:len(records) // 3]:
        disk.do(*record)
    disk.lose_power(dice, "out")
    part = Disk("out")
    must("run", "--resume", "out", "-q", log="resumed.log")
    saved += play("a run that was resumed", part, "resumed.log", TRIALS, [whole])

    must("run", *other.arguments, "-o", "out", "--force", *QUIET)
    old = Disk("out")
    must("run", "model.yaml", "-o", "out", "--force", "-q", log="replaced.log")
    saved += play("a run that replaces another", old, "replaced.log", TRIALS, [other, whole])
    if saved < TRIALS:
        raise Lost("too few were resumed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            main()
        except Lost as lost:
            print("FAILED:", lost, file=sys.stderr)
            sys.exit(1)
        finally:
            os.chdir("/")
