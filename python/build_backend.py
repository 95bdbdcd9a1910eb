"""Builds the wheel with the project's own CMake: no package of Python's is needed for it, and no network.

`pip install ./python` and `make python` call it (PEP 517, PEP 660 is not offered). The libraries are compiled in ../build/python and held by the
extension module; LAPACK, KLU, HDF5, libyaml, zlib and expat stay shared libraries of the system.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "python"


def version():
    return re.search(r'#define AS_VERSION "([^"]+)"', (ROOT / "include/alphastep/version.h").read_text())[1]


def metadata():
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown"]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needs]
    return "\n".join(lines) + "\n\n" + (HERE / project["readme"]).read_text()


def compile_package():
    options = ["-DALPHASTEP_TESTS=OFF", "-DALPHASTEP_CLI=OFF", "-DALPHASTEP_EXAMPLES=OFF", "-DALPHASTEP_PYTHON_PACKAGE=ON",
               f"-DPython3_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, *options, "--log-level=NOTICE"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--parallel", str(os.cpu_count()), "--target", "alphastep_python", "alphastep_python_files"], check=True,
                   stdout=sys.stderr)
    return BUILD / "python" / "alphastep"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return pack(compile_package(), wheel_directory)


def pack(package, wheel_directory):
    """A wheel of the package's files; its name."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp311-abi3-{platform}"
    info = f"alphastep-{version()}.dist-info"
    files = {f"alphastep/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: alphastep\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"alphastep-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("the package is built within the project's tree: there is no source distribution of it alone")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    print(folder / build_wheel(folder))
