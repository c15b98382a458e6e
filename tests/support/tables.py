"""A file as the doors see it: what its columns hold, all of them, typed as they are where they are asked for."""

import os
from collections.abc import Sequence

import pandas as pd

from llbt.data.files import open_source
from llbt.data.paths import located
from llbt.data.sources import in_memory


def file_frame(file: object, *, objects: Sequence[str] = ("object_i", "object_j"), labels: object = None):
    """Return a file as a pandas frame."""
    source = open_source(os.fspath(file) if isinstance(file, os.PathLike) else file, labels=labels)
    if source.frame.implementation.is_pandas() and not len(source.frame):
        return source.frame.to_native()
    with located(source.what):
        return pd.DataFrame(in_memory(source, objects))
