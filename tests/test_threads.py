"""In threads: the process is left as it was, every warning is seen, and the answers are those of one thread."""

import concurrent.futures
import contextlib
import io
import re
import sys
import threading
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import threadpoolctl
from support.fits import fit_by

import llbt
from llbt.kernel.threads import few_threads

TABLES = [llbt.load_dataset("dras_table1").pool(), llbt.load_dataset("dras_modpref")]  # the second fits perfectly


def settings():
    """What belongs to the whole process."""
    pools = [(pool["filepath"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()]
    return list(warnings.filters), dict(mpl.rcParams), pools, np.geterr(), plt.get_fignums()


def call(k, folder):
    """Do one of the things that a service does; return what it says."""
    table = TABLES[k % 2]
    if k % 25 == 24:
        return llbt.write_report(table, path=folder / f"{threading.get_ident()}-{k}.html").read_bytes()
    if k % 5 == 4:
        figure = llbt.plot.worth(llbt.fit("object + tie", table)).get_figure()
        file = io.BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
        return file.getvalue()
    if k % 5 == 3:
        return repr(llbt.fit("object", TABLES[0]))  # warns: no tie term
    res = fit_by("object + tie", table, method=("glm", "eliminate")[k // 2 % 2])
    return repr(res) + repr(llbt.pairwise(res)) + repr(llbt.drop1(res))


def run(calls, folder):
    return [call(k, folder) for k in range(calls)]


def run_together(workers, calls, folder):
    before = list(warnings.filters)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(run, [calls] * workers, [folder] * workers))
    assert warnings.filters == before
    return found


@pytest.fixture
def asked(monkeypatch):
    """Record where the package itself asks for the filters of warnings or for rcParams; others may."""
    found = []

    def note(what):
        caller = next(
            name
            for depth in range(2, 9)
            if (name := str(sys._getframe(depth).f_globals.get("__name__"))) not in ("contextlib", __name__)
        )
        if caller.split(".")[0] == "llbt":
            found.append((what, caller))

    class Watched(warnings.catch_warnings):
        def __init__(self, **options):
            note("catch_warnings")
            super().__init__(**options)

    original = mpl.rc_context

    @contextlib.contextmanager
    def rc_context(*args, **options):
        note("rc_context")
        with original(*args, **options):
            yield

    monkeypatch.setattr(warnings, "catch_warnings", Watched)
    monkeypatch.setattr(mpl, "rc_context", rc_context)
    return found


@pytest.mark.parametrize(
    ("workers", "calls"),
    [pytest.param(4, 25, marks=pytest.mark.slow), pytest.param(8, 200, marks=pytest.mark.exhaustive)],
)
def test_threads_leave_the_process_alone_and_answer_as_one_does(workers, calls, asked, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(1) as alone:  # what is imported on the way has its effects here
        expected = alone.submit(run, calls, tmp_path).result()
    before = settings()
    with pytest.warns(llbt.errors.TiesWarning) as caught:
        found = run_together(workers, calls, tmp_path)
    assert all(answers == expected for answers in found)
    assert settings() == before
    assert asked == []
    assert len([w for w in caught if w.category is llbt.errors.TiesWarning]) == workers * len(range(3, calls, 5))
    assert {w.category for w in caught} == {llbt.errors.TiesWarning}


def test_the_threads_of_linear_algebra_are_restored_when_fits_overlap():
    before = settings()[2]
    entered, leave = threading.Event(), threading.Event()

    def first():
        with few_threads(3):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    with few_threads(3):
        leave.set()
        thread.join()
        assert {n for path, n in settings()[2] if "blas" in path} == {1}
    assert settings()[2] == before


def test_a_figure_of_the_main_thread_is_pyplots_and_others_are_not():
    res = llbt.fit("object + tie", TABLES[0])
    before = plt.get_fignums()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(llbt.plot.worth, res).result()
    assert plt.get_fignums() == before
    figure = llbt.plot.worth(res).get_figure()
    assert figure.number not in before
    plt.close(figure)


def test_no_library_code_touches_what_belongs_to_the_process():
    """The command line, a process of its own, collects warnings; pyplot is asked in one place, in the main thread."""
    package = Path(llbt.__file__).parent
    pattern = re.compile(
        r"catch_warnings|simplefilter|filterwarnings|rc_context|rcParams\[[^]]*\]\s*=|pyplot|plt\.show"
    )
    found = {
        (path.relative_to(package).as_posix(), match)
        for path in package.rglob("*.py")
        for match in pattern.findall(re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL))
    }
    messages = {("cli/messages.py", "catch_warnings"), ("cli/messages.py", "simplefilter")}
    assert found == messages | {("plot/style.py", "pyplot")}
