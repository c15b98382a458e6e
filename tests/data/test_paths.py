"""A path is data: what is named is read and nothing else, and what is written is whole or not there."""

import gzip
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.shell import run
from support.tables import file_frame

import llbt
from llbt.data import duckdb_files, files, paths
from llbt.report import safe_write

ROWS = "object_i,object_j,outcome\n{0},{1},i\n{0},{1},j\n{0},{1},i\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run[1].csv").write_text(ROWS.format("named", "other"))
    (tmp_path / "run1.csv").write_text(ROWS.format("x", "y"))
    (tmp_path / "it's.csv").write_text(ROWS.format("q", "r"))
    return tmp_path


@pytest.fixture(params=["memory", "duckdb"])
def engine(request, monkeypatch):
    if request.param == "duckdb":
        monkeypatch.setitem(files.LARGE, "csv", 0)
        monkeypatch.setitem(files.LARGE, "parquet", 0)
        monkeypatch.setitem(files.LARGE, "json", 0)


# -- reading --------------------------------------------------------------------------------------------------


def test_a_file_of_that_name_is_no_pattern(engine):
    assert llbt.from_judgments("run[1].csv").objects == ("named", "other")
    assert llbt.from_judgments("run[[]1].csv").objects == ("named", "other")  # nothing of that name: a pattern
    assert llbt.from_judgments("run?.csv").objects == ("x", "y")
    assert llbt.from_judgments("it's.csv").objects == ("q", "r")
    assert llbt.from_judgments("*.csv").objects == ("named", "other", "q", "r", "x", "y")


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_names_with_brackets_in_other_kinds_of_files(suffix, engine):
    frame = file_frame("run[1].csv")
    for name, table in (("a[1]", frame), ("a1", frame.replace("named", "wrong"))):
        if suffix == "parquet":
            table.to_parquet(f"{name}.parquet")
        else:
            table.to_json(f"{name}.jsonl", orient="records", lines=True)
    assert llbt.from_judgments(f"a[1].{suffix}").objects == ("named", "other")


@pytest.mark.parametrize("path", ["https://example.org/a.csv", "s3://b/a.parquet", "file:///etc/hosts", "gs://*/a.csv"])
def test_an_address_is_refused(path, engine):
    for ask in (llbt.from_judgments, llbt.read_judgments, file_frame, llbt.audit):
        with pytest.raises(llbt.errors.JudgmentError, match="llbt downloads nothing"):
            ask(path)


def test_the_connection_reads_what_was_named_and_nothing_else(engine, tmp_path):
    if not files.LARGE["csv"]:
        import duckdb

        connection = duckdb_files.connection_to(["run[1].csv", str(tmp_path / "it's.csv")])
        assert len(connection.read_csv("run[[]1].csv").fetchall()) == 3
        assert len(connection.read_csv("it's.csv").fetchall()) == 3
        for refused in (
            lambda: connection.read_csv("run1.csv"),
            lambda: connection.read_csv("/etc/hosts"),
            lambda: connection.execute("COPY (SELECT 1) TO 'out.csv'"),
            lambda: connection.execute("INSTALL httpfs"),
            lambda: connection.execute("ATTACH 'other.db'"),
            lambda: connection.execute("SET enable_external_access = true"),
        ):
            with pytest.raises(duckdb.Error):
                refused()
    assert sorted(os.listdir()) == ["it's.csv", "run1.csv", "run[1].csv"]


@pytest.mark.parametrize(
    "content",
    [b"SECRET=hunter2\0PATH=/bin\0", b"root:*:hunter2:0:99999:7:::\nbin:*:1:0:\n", b"hunter2!\n", b"\x1bhunter2,b\n"],
)
def test_messages_do_not_show_a_file_that_is_no_table(content, engine):
    with open("stranger", "wb") as file:
        file.write(content)
    for ask in (
        llbt.from_judgments,
        llbt.audit,
        file_frame,
        lambda path: llbt.from_judgments(path, objects=("a", "b"), outcome="c"),
        lambda path: llbt.from_counts(llbt.load_dataset("dras_table1").to_frame(), object_covariates=path),
    ):
        with pytest.raises(llbt.errors.JudgmentError, match="names no columns") as caught:
            ask("stranger")
        assert "hunter2" not in str(caught.value)


def test_a_gzipped_file_is_not_unpacked_without_bound(monkeypatch):
    monkeypatch.setattr(paths, "_MOST_UNZIPPED", 10_000)
    with gzip.open("bomb.csv.gz", "wt") as file:
        file.write(ROWS.format("a", "b") + "a,b,i\n" * 10_000)
    with pytest.raises(llbt.errors.JudgmentError, match=r"bomb.csv.gz.*holds more than .* MiB .*Unzip it"):
        llbt.from_judgments("bomb.csv.gz")


# -- writing --------------------------------------------------------------------------------------------------


def report(*args, **options):
    return run("report", *args, **options)


@pytest.mark.parametrize(
    "args",
    [
        ["run1.csv", "-o", "run1.csv"],
        ["./run1.csv", "-o", "run1.csv"],
        ["run?.csv", "-o", "run1.csv"],
        ["run1.csv", "-o", "link.csv"],
        ["run[1].csv", "--object-covariates", "run1.csv", "-o", "run1.csv"],
    ],
)
def test_nothing_is_written_over_what_is_read(args):
    os.symlink("run1.csv", "link.csv")
    before = Path("run1.csv").read_bytes()
    found = report(*args)
    assert found.exit_code == 2
    assert "is an input of this call" in found.stderr
    assert Path("run1.csv").read_bytes() == before


def shell(*args, **options):
    command = [sys.executable, "-c", "from llbt.cli.main import main; main()", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.slow
def test_standard_input_is_not_written_over():
    with open("run1.csv") as file:
        found = shell("report", "-", "-o", "run1.csv", stdin=file)
    assert found.returncode == 2
    assert "is standard input" in found.stderr
    assert Path("run1.csv").read_text() == ROWS.format("x", "y")


@pytest.mark.slow
def test_standard_output_takes_the_page():
    found = shell("report", "run1.csv", "-o", "-")
    assert found.returncode == 0
    assert found.stdout.startswith("<!DOCTYPE html>")
    assert found.stdout.rstrip().endswith("</html>")
    assert sorted(os.listdir()) == ["it's.csv", "run1.csv", "run[1].csv"]


@pytest.mark.usefixtures("unpictured")
@pytest.mark.parametrize(
    ("target", "said"), [("/dev/full", "No space left on device"), ("n" * 300, "no file can be named 'nnn")]
)
@pytest.mark.slow
def test_what_the_system_refuses_is_one_line(target, said):
    found = report("run1.csv", "-o", target)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {said}")
    assert found.stderr.count("\n") == 1


@pytest.mark.usefixtures("unpictured")
def test_the_old_page_stays_where_writing_fails(monkeypatch):
    with open("page.html", "w") as file:
        file.write("old")
    before = sorted(os.listdir())

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = report("run1.csv", "-o", "page.html")
    assert found.stderr == "error: No space left on device: 'page.html'\n"
    assert Path("page.html").read_text() == "old"
    assert sorted(os.listdir()) == before


def test_a_page_keeps_its_link_and_its_rights(folder):
    page = folder / "page.html"
    page.write_text("old")
    page.chmod(0o640)
    os.symlink("page.html", "link.html")
    safe_write.write_whole(folder / "link.html", "new")
    assert os.path.islink("link.html")
    assert page.read_text() == "new"
    assert stat.S_IMODE(page.stat().st_mode) == 0o640


def test_a_new_page_has_the_rights_of_new_files(folder):
    safe_write.write_whole(folder / "page.html", "new")
    (folder / "other").write_text("")
    assert (folder / "page.html").stat().st_mode == (folder / "other").stat().st_mode


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("Unable to allocate 74.5 GiB"), "error: not enough memory: Unable to allocate 74.5 GiB\n"),
        (RecursionError("maximum recursion depth exceeded"), "error: the input is nested too deeply: maximum"),
        (PermissionError(13, "Permission denied", "x"), "error: Permission denied: 'x'\n"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "error: UnicodeEncodeError: "),
    ],
)
def test_the_command_line_shows_no_traceback(error, said, monkeypatch):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr(llbt, "fit", fail)
    found = run("fit", "run1.csv")
    assert found.exit_code == 2
    assert found.stderr.startswith(said)


@pytest.mark.slow
def test_a_page_is_whole_whatever_ends_the_process(folder):
    safe_write.write_whole(folder / "page.html", "old")
    code = (
        "import sys; from pathlib import Path; from llbt.report.safe_write import write_whole\n"
        "print(flush=True)\n"
        "while True: write_whole(Path('page.html'), 'new' * 1_000_000)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (folder / "page.html").read_text() in ("old", "new" * 1_000_000)


@pytest.mark.slow
def test_two_processes_write_one_page(folder):
    code = (
        "import sys; from pathlib import Path; from llbt.report.safe_write import write_whole\n"
        "for _ in range(100): write_whole(Path('page.html'), sys.argv[1] * 100_000)"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, letter]) for letter in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    assert (folder / "page.html").read_text() in ("a" * 100_000, "b" * 100_000)
    assert "page.html" in os.listdir()
    assert not [name for name in os.listdir() if name.startswith(".llbt")]
