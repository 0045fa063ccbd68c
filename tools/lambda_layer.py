"""A layer for AWS Lambda: a zip file with retrograd and what it needs.

    python tools/lambda_layer.py retrograd-0.2.0-....whl layer.zip

Run it on Linux, by the Python version of the function.  Tests, type stubs, headers and bytecode are left out.  Ends with status 1
where the layer would take more than 100 MB unpacked (AWS allows a function and its layers 250 MB, and 50 MB of zip file).
"""
from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

UNPACKED, ZIPPED = 100e6, 50e6
LEFT_OUT = ("tests", "__pycache__", "retrograd-stubs", "include", "bin", "*.pyi", "*.pyc", "*.a")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("archive", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "python")         # where Lambda looks
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", target, "--only-binary=:all:",
                        given.wheel], check=True)
        try:
            unpacked, zipped = pack(target, given.archive)
        except ValueError as e:
            print(e, file=sys.stderr)
            return 1
    print(f"{given.archive}: {zipped / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked")
    return 0


def pack(target: Path, archive: Path) -> tuple[int, int]:
    """Remove what a function does not need from the folder `target`, and write the rest -> its bytes, and the archive's.

    ValueError where either is too much.
    """
    for pattern in LEFT_OUT:
        for path in list(target.rglob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    files = sorted(path for path in target.rglob("*") if path.is_file())
    unpacked = sum(path.stat().st_size for path in files)
    if unpacked > UNPACKED:
        raise ValueError(f"the layer takes {unpacked / 1e6:.1f} MB unpacked, and may take {UNPACKED / 1e6:.0f}")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in files:
            out.write(path, path.relative_to(target.parent))
    zipped = archive.stat().st_size
    if zipped > ZIPPED:
        archive.unlink()
        raise ValueError(f"the zip file takes {zipped / 1e6:.1f} MB, and may take {ZIPPED / 1e6:.0f}")
    return unpacked, zipped


if __name__ == "__main__":
    raise SystemExit(main())
