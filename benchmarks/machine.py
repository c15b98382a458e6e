"""The machine of the measurements."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path


def described() -> dict[str, str]:
    return {
        "Processor": _first("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "Cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "Memory": _memory(),
        "System": f"{platform.system()} {platform.release()}, {_first('/etc/os-release', 'PRETTY_NAME') or 'unknown'}",
        "Date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    }


def _first(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    found = [line[len(key) :].strip(" \t:=").strip('"') for line in lines if line.startswith(key)]
    return found[0] if found else ""


def _memory() -> str:
    kilobytes = _first("/proc/meminfo", "MemTotal").removesuffix("kB").strip()
    return f"{int(kilobytes) / 2**20:.1f} GiB" if kilobytes else "unknown"
