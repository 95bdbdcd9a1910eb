#!/usr/bin/env python3
"""Plugins as shared libraries: the project of examples/plugin-damper, built by make and by CMake; who may run code; what is said of
those that are wrong; runs that are taken up again.

usage: plugins.py COMMAND SOURCE_DIR C_COMPILER
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND, SOURCE, CC = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
EXAMPLE = os.path.join(SOURCE, "examples", "plugin-damper")
PATIENCE = 600  # s; for something that takes a second

# A plugin with everything that can be wrong with one.
SOURCE_TEXT = r"""
#include <alphastep/plugin.h>
#ifdef LOADED
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { FILE *f = fopen(LOADED, "w"); if (f) fclose(f); }
#endif
#ifndef VERSION
#define VERSION AS_PLUGIN_VERSION
#endif
#ifndef COOKIE
#define COOKIE AS_PLUGIN_COOKIE
#endif
#ifndef RATE
#define RATE -2*at->state[0]
#endif
#ifndef SLOPE
#define SLOPE -2
#endif
#ifndef CODE
#define CODE 0
#endif
#ifndef SYMBOL
#define SYMBOL alphastep_plugin
#endif
static const as_plugin_quantity state[] = {{"x", "m", 1, 0, NULL}}, output[] = {{"", "m", 0, 0, NULL}};
static int evaluate(const as_plugin_point *at, double *rate, double *out, char *why) {
  (void)why;
  if (rate) rate[0] = RATE;
  if (out) out[0] = at->state[0];
  return at->t > 0.105 ? CODE : 0;
}
static int jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  (void)at, (void)why;
  out->rate_by_state[0] = SLOPE;
  out->output_by_state[0] = 1;
  return 0;
}
static const as_plugin_block decay = {.name = "decay", .n_states = 1, .state = state, .n_outputs = 1, .output = output,
                                      .reads_time = 1, .evaluate = evaluate, .jacobian = jacobian};
static const as_plugin_block *const blocks[] = {&decay, NULL};
static const as_plugin plugin = {COOKIE, VERSION, "decays", NULL, blocks, NULL};
extern const as_plugin *SYMBOL(void);
AS_PLUGIN_EXPORT const as_plugin *SYMBOL(void) { return &plugin; }
"""
MODEL = """alphastep: 1
bodies: {m: {type: point, mass: 1, velocity: [1, 0, 0]}}
blocks:
  fade: {type: plugin, file: %s}
  twice: {type: signal, formula: 2*blocks.fade}
simulate: {t_end: 0.2, step: 0.01}
output: {interval: 0.01, channels: [blocks.fade, blocks.twice]}
"""

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def run(status, *arguments, env=None):
    """Runs the command; what it says on stdout and stderr."""
    result = subprocess.run([COMMAND, *arguments], capture_output=True, timeout=PATIENCE, text=True,
                            env={**os.environ, **(env or {})})
    check(result.returncode == status, arguments, "ends with", result.returncode, result.stderr)
    return result.stdout + result.stderr


def refuse(status, words, *arguments, env=None):
    said = run(status, *arguments, env=env)
    check(words in said, arguments, "says", said, "not", words)
    check(said.count("\n") == 1 or status == 3, arguments, "says more than one sentence:", said)


def compile_plugin(path, *defines):
    with open("source.c", "w", encoding="utf-8") as file:
        file.write(SOURCE_TEXT)
    subprocess.run([CC, "-std=c99", "-fPIC", "-shared", "-I" + SOURCE + "/include", *defines, "-o", path, "source.c", "-lm"],
                   check=True)


def write_model(path, library):
    with open(path, "w", encoding="utf-8") as file:
        file.write(MODEL % library)


def rows(folder):
    with open(os.path.join(folder, "results.csv"), encoding="utf-8") as file:
        return list(csv.reader(file))


def check_table(found):
    """The numbers of the example's README."""
    with open(os.path.join(EXAMPLE, "README.md"), encoding="utf-8") as file:
        table = re.findall(r"^\| ([\d.]+) \| `([^`]+)` \| (\S+) \| (\S+) \|$", file.read(), re.M)
    check(len(table) == 4, "the table of the example's README:", table)
    for time, channel, value, within in table:
        column = [name.split(" ")[0] for name in found[0]].index(channel)
        row = next(row for row in found[1:] if abs(float(row[0]) - float(time)) < 1e-9)
        check(abs(float(row[column]) - float(value)) <= float(within), channel, "at", time, "is", row[column], "not", value)


def check_example():
    """Built twice; the same motion as with the block of the library."""
    shutil.copytree(EXAMPLE, "example", ignore=shutil.ignore_patterns("*.so", "build"))
    subprocess.run(["make", "-s", "-C", "example", "PREFIX=" + SOURCE, "CC=" + CC], check=True)
    subprocess.run(["cmake", "-S", "example", "-B", "made", "-DCMAKE_PREFIX_PATH=" + SOURCE, "-DCMAKE_C_COMPILER=" + CC,
                    "-DPLUGIN_FOLDER=" + os.path.abspath("by-cmake")], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "made"], check=True, stdout=subprocess.DEVNULL)
    check(os.path.isfile("by-cmake/twin_tube.so"), "CMake has built no twin_tube.so")
    tight = ["--set", "simulate.newton={rtol: 1e-12}", "--set", "simulate.t_end=0.5", "--no-report", "--quiet"]
    run(0, "run", "example/model.yaml", "--allow-plugins", "-o", "one", *tight)
    run(0, "run", "example/twin.yaml", "-o", "other", *tight)
    one, other = rows("one"), rows("other")
    check(len(one) == len(other) == 52, "rows:", len(one), len(other))
    for column in range(1, len(one[0])):
        largest = max(abs(float(row[column])) for row in other[1:])
        off = max(abs(float(a[column]) - float(b[column])) for a, b in zip(one[1:], other[1:]))
        check(off <= 1e-9 * largest, one[0][column], "is off by", off, "of", largest)
    run(0, "run", "example/model.yaml", "--allow-plugins", "-o", "table", "--no-report", "--quiet")
    check_table(rows("table"))
    # The library that CMake has made, found by its name in a folder that is trusted.
    os.remove("example/twin_tube.so")
    run(0, "run", "example/model.yaml", "--plugins-from", "by-cmake", "-o", "third", *tight)
    run(0, "check", "example/model.yaml", env={"ALPHASTEP_PLUGINS": "/nowhere:" + os.path.abspath("by-cmake")})
    shutil.move("by-cmake/twin_tube.so", "example/twin_tube.so")
    said = run(0, "check", "example/model.yaml", "--allow-plugins")
    check("dampers 1.0 from" in said and "any folder" in said, "check lists no plugin:", said)
    check("warning" not in said, "the example's derivatives:", said)
    found = json.loads(run(0, "check", "example/model.yaml", "--allow-plugins", "--json"))
    check([os.path.basename(path) for path in found["plugins"]] == ["twin_tube.so"], found["plugins"])
    refuse(2, "the rod (0.01 m^2) must be thinner than the piston (0.001018 m^2)", "check", "example/model.yaml",
           "--allow-plugins", "--set", "blocks.damper.parameters={area_rod: 0.01}")
    # Every command that loads a machine.
    for command in (["equilibrium"], ["modes", "--equilibrium"], ["linearize", "--equilibrium"]):
        refuse(2, "add `--allow-plugins` or `--plugins-from", *command, "example/model.yaml")
        run(0, *command, "example/model.yaml", "--allow-plugins")


def check_permission():
    """A file alone never runs code."""
    os.makedirs("models/libs")
    compile_plugin("models/libs/decay.so", '-DLOADED="%s"' % os.path.abspath("loaded"))
    write_model("models/m.yaml", "libs/decay.so")
    folder = os.path.abspath("models/libs")
    advice = f"if you trust it, add `--allow-plugins` or `--plugins-from {folder}`"
    refuse(2, advice, "check", "models/m.yaml")
    refuse(2, "models/m.yaml:4:", "run", "models/m.yaml", "-o", "none")
    check(not os.path.exists("none"), "a refused run has made its folder")
    refuse(2, advice, "check", "models/m.yaml", "--plugins-from", folder + "x")
    for other in ("models/libsx", "models/lib", "models/libs/deeper"):
        os.makedirs(other)
        refuse(2, advice, "check", "models/m.yaml", "--plugins-from", other)
    refuse(2, advice, "check", "models/m.yaml", env={"ALPHASTEP_PLUGINS": "models/libs:."})  # not absolute
    check(not os.path.exists("loaded"), "a plugin that is not allowed was loaded")
    run(0, "check", "models/m.yaml", "--plugins-from", "models/libs")
    check(os.path.exists("loaded"), "a plugin that is allowed was not loaded")
    os.remove("loaded")
    run(0, "check", "models/m.yaml", "--plugins-from", "models")
    run(0, "check", "models/m.yaml", env={"ALPHASTEP_PLUGINS": folder})
    run(0, "run", "models/m.yaml", "--allow-plugins", "-o", "run", "--no-report", "--quiet")
    os.remove("loaded")
    for command in (["report", "run"], ["export", "run", "-o", "table.csv"], ["schema"]):
        run(0, *command)
    check(not os.path.exists("loaded"), "a report or an export has loaded a plugin")
    # Where it lies counts, not what leads there.
    os.symlink("libs/decay.so", "models/link.so")
    write_model("models/link.yaml", "link.so")
    refuse(2, "it is a link; name what it leads to", "check", "models/link.yaml", "--allow-plugins")
    os.makedirs("trusted")
    os.symlink(folder, "trusted/inside")
    os.symlink(os.path.abspath("models/m.yaml"), "trusted/m.yaml")
    os.makedirs("trusted/models")
    os.symlink(folder, "trusted/models/libs")
    write_model("trusted/models/m.yaml", "libs/decay.so")
    refuse(2, advice, "check", "trusted/models/m.yaml", "--plugins-from", "trusted")
    os.mkfifo("models/pipe.so")
    os.makedirs("models/folder.so")
    for name in ("pipe.so", "folder.so"):
        write_model("models/odd.yaml", name)
        refuse(2, "is no file", "check", "models/odd.yaml", "--allow-plugins")
    for name in ("../models/libs/decay.so", folder + "/decay.so"):
        write_model("models/odd.yaml", name)
        refuse(2, "paths are relative, without ..", "check", "models/odd.yaml", "--allow-plugins")


def check_mistakes():
    """One sentence each."""
    write_model("m.yaml", "p.so")
    refuse(2, 'm.yaml:4:30: error: blocks.fade: the plugin "p.so" is not there: has it been built?', "check", "m.yaml", "--allow-plugins")
    with open("p.so", "w", encoding="utf-8") as file:
        file.write("no library")
    refuse(2, "the plugin cannot be loaded", "check", "m.yaml", "--allow-plugins")
    for defines, words in ((["-DVERSION=7"], "was built for version 7 of the plugins' interface; this program has version 1"),
                           (["-DSYMBOL=another_name"], "it has no function `alphastep_plugin`"),
                           (["-DCOOKIE=1"], "returns no as_plugin with AS_PLUGIN_COOKIE")):
        compile_plugin("p.so", *defines)
        refuse(2, words, "check", "m.yaml", "--allow-plugins")
    compile_plugin("p.so")
    size = os.path.getsize("p.so")
    for part in (size // 8, size // 4, size // 2, 3 * size // 4): # where parts that are loaded end before that, it is whole
        os.truncate("p.so", part)
        result = subprocess.run([COMMAND, "check", "m.yaml", "--allow-plugins"], capture_output=True, text=True, check=False)
        check(result.returncode in (0, 2), "a plugin cut off at", part, result)
        if part == size // 8:
            check("is cut off: the file is shorter than it says" in result.stderr, result)
        compile_plugin("p.so")
    for defines, words in ((["-DRATE=at->t>0.105?0/at->t-0*(1/(at->t-at->t)):1"], "the plugin's rate x is no number"),
                           (["-DCODE=-3"], 'block "fade" cannot be evaluated: the plugin returned -3'),
                           (["-DCODE=3"], 'block "fade" cannot be evaluated: the plugin returned 3')):
        compile_plugin("p.so", *defines)
        refuse(3, words, "run", "m.yaml", "--allow-plugins", "-o", "failed", "--force", "--no-report", "--quiet")
        check(10 <= len(rows("failed")) - 1 <= 12, "rows before the failure:", len(rows("failed")))
    compile_plugin("p.so", "-DSLOPE=-2.01")
    said = run(0, "check", "m.yaml", "--allow-plugins")
    check('the plugin "decay" gives -2.01 for the derivative of the rate of x by x, differences of its values give -2' in said, said)


def check_resume():
    """A run that goes on gives the same bytes; with another library it is refused."""
    write_model("r.yaml", "r.so")
    compile_plugin("r.so")
    run(0, "run", "r.yaml", "--allow-plugins", "-o", "whole", "--no-report", "--quiet")
    run(0, "run", "r.yaml", "--allow-plugins", "-o", "parts", "--no-report", "--quiet", "--set", "simulate.t_end=0.1")
    refuse(2, "add `--allow-plugins`", "run", "--resume", "parts", "--set", "simulate.t_end=0.2")
    more = ["run", "--resume", "parts", "--allow-plugins", "--quiet", "--no-report", "--set", "simulate.t_end=0.2"]
    compile_plugin("r.so", "-DSLOPE=-2.0000001")
    said = run(2, *more)
    check("r.so" in said, "a changed plugin:", said)
    compile_plugin("r.so")
    run(0, *more)
    with open("whole/results.csv", "rb") as one, open("parts/results.csv", "rb") as other:
        check(one.read() == other.read(), "a resumed run differs")


def main():
    os.environ.pop("ALPHASTEP_PLUGINS", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (check_example, check_permission, check_mistakes, check_resume):
            part()
        os.chdir("/")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


sys.exit(main())
