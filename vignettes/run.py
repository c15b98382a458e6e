"""Execute the vignettes, each in a fresh kernel; a cell that fails fails the run.

python vignettes/run.py [--write] [NAME.ipynb ...]
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbclient
import nbformat

HERE = Path(__file__).parent


def run(path: Path, write: bool) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,  # seconds for a cell
        kernel_name="python3",
        coalesce_streams=True,  # else printed lines are split at random, and change the file at every --write
        record_timing=False,  # time stamps would change the file at every --write
        resources={"metadata": {"path": str(path.parent)}},
    )
    start = time.perf_counter()
    client.execute()
    print(f"{path.name}: {time.perf_counter() - start:.0f} s", flush=True)
    if write:
        nbformat.write(notebook, path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Execute the vignettes.")
    parser.add_argument("names", nargs="*", help="file names in this folder; all of them if none is given")
    parser.add_argument("--write", action="store_true", help="keep the output in the files")
    args = parser.parse_args()
    paths = [HERE / name for name in args.names] or sorted(HERE.glob("*.ipynb"))
    if not paths:
        print("no vignettes")
    os.environ.pop("MPLBACKEND", None)  # with another backend than the notebook's no picture gets into the file
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:  # each waits for a kernel of its own
        list(pool.map(lambda path: run(path, args.write), paths))


if __name__ == "__main__":
    main()
