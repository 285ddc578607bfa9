"""Builds the wheel and the sdist, without a network and without other packages.

This is the build backend of pyproject.toml (PEP 517). As a program, it writes both files into a
folder, by default `package/`. Equal sources give equal bytes: no file has a time of its own, and
the wheel is not compressed, because compressors differ.
"""

import base64
import gzip
import hashlib
import io
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TEXT = (HERE / "pyproject.toml").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads(TEXT)["project"]
# Names of files have no hyphen in their parts.
STEM = f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}"
INFO = f"{STEM}.dist-info"

WHEEL = """Wheel-Version: 1.0
Generator: animal-store
Root-Is-Purelib: true
Tag: py3-none-any
"""


def list_sources() -> dict[str, bytes]:
    """Return the files of the package by their paths."""
    package = HERE / "animal_store"
    paths = [*sorted(package.glob("*.py")), package / "py.typed"]
    return {path.relative_to(HERE).as_posix(): path.read_bytes() for path in paths}


def write_metadata() -> bytes:
    """Return the core metadata, version 2.1, with the README as the description."""
    head = [
        "Metadata-Version: 2.1",
        f"Name: {PROJECT['name']}",
        f"Version: {PROJECT['version']}",
        f"Summary: {PROJECT['description']}",
        f"Keywords: {','.join(PROJECT['keywords'])}",
        f"License: {PROJECT['license']['text']}",
        *(f"Classifier: {one}" for one in PROJECT["classifiers"]),
        f"Requires-Python: {PROJECT['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    readme = Path(HERE, str(PROJECT["readme"])).read_text(encoding="utf-8")
    return ("\n".join(head) + "\n\n" + readme).encode()


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: str | None = None,
) -> str:
    """Write the wheel, and return its name."""
    files = {
        **list_sources(),
        f"{INFO}/LICENSE": (HERE / "LICENSE").read_bytes(),
        f"{INFO}/METADATA": write_metadata(),
        f"{INFO}/WHEEL": WHEEL.encode(),
    }
    record = [f"{path},sha256={hash_file(data)},{len(data)}\n" for path, data in files.items()]
    files[f"{INFO}/RECORD"] = "".join([*record, f"{INFO}/RECORD,,\n"]).encode()
    name = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_STORED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def hash_file(data: bytes) -> str:
    """Return the SHA-256 in the form of RECORD."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Write the sdist, and return its name."""
    own = ["LICENSE", "README.md", "backend.py", "pyproject.toml"]
    files = {
        "PKG-INFO": write_metadata(),
        **{path: (HERE / path).read_bytes() for path in own},
        **list_sources(),
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{STEM}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    name = f"{STEM}.tar.gz"
    Path(sdist_directory, name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else str(HERE / "package")
    print(build_wheel(target), build_sdist(target))
