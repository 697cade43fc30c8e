"""Command lines as a shell runs them, without a new Python for each.

To start Python and import what an audit needs takes two seconds of processor, to fork a
process that has done so some hundredths. What a shell sees is the same: the status,
what was written where, the working folder, the environment. Imports only are shared:
nothing has been computed, compiled or told before the fork. A fork ends without taking
down its modules, which would take another second.

What is about imports themselves, or about the streams of a process, starts its own.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: What commands import while they run.
MODULES = (
    "lrisk.cli.commands", "lrisk.cli.auditing", "lrisk.cli.storage", "lrisk.report",
    "lrisk.analysis.audit", "lrisk.estimators", "lrisk.baselines", "numba", "pandas",
    "jinja2", "rich.console", "sklearn.linear_model", "sklearn.pipeline", "skops.io",
)  # fmt: skip


class Shell:
    """Runs ``lrisk ARGUMENTS``; a context that ends its server.

    Where processes cannot be forked safely each call starts one.
    """

    def __init__(self):
        self._server = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._server is not None:
            self._server.stdin.close()
            self._server.wait()
            self._server.stdout.close()

    def __call__(self, *arguments, first="", cwd=None, env=None, stdin=os.devnull):
        """The ended process of a command line, before which some code was run."""
        job = {
            "arguments": [str(argument) for argument in arguments],
            "first": first,
            "cwd": str(cwd or os.getcwd()),
            "env": dict(os.environ if env is None else env),
            "stdin": str(stdin),
        }
        return self._forked(job) if sys.platform == "linux" else started(job)

    def _forked(self, job):
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            places = {name: str(Path(folder, name)) for name in ("stdout", "stderr")}
            self._server.stdin.write(json.dumps(job | places) + "\n")
            self._server.stdin.flush()
            status = int(self._server.stdout.readline())
            told = [Path(place).read_text() for place in places.values()]
        return subprocess.CompletedProcess(job["arguments"], status, *told)


def started(job):
    """The run of a job in a new process."""
    how = ["-c", code(job["first"])] if job["first"] else ["-m", "lrisk"]
    with open(job["stdin"]) as given:
        return subprocess.run(
            [sys.executable, *how, *job["arguments"]], stdin=given,
            capture_output=True, text=True, cwd=job["cwd"], env=job["env"],
        )  # fmt: skip


def code(first):
    """A program: some code, then the command line."""
    command = "from lrisk.cli import main; sys.exit(main(sys.argv[1:]))"
    return f"import sys; {first}; {command}"


def load_numba():
    """What numba loads before the first function that it compiles or finds."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def serve():
    """Answer jobs; returns, in each forked process, its own."""
    import gc
    import importlib
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODULES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        load_numba()
    gc.freeze()
    jobs, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in jobs:
        if not os.fork():
            return json.loads(line)
        _, status = os.wait()
        print(os.waitstatus_to_exitcode(status), file=replies, flush=True)
    return None


def become(job):
    """Be the process of a job."""
    import runpy

    write = os.O_WRONLY | os.O_CREAT
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(os.open(job[name], write if place else os.O_RDONLY), place)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.path[0] = "" if job["first"] else job["cwd"]
    sys.argv = ["-c", *job["arguments"]]
    try:
        if job["first"]:
            exec(code(job["first"]), {"__name__": "__main__"})
        else:
            runpy.run_module("lrisk", run_name="__main__", alter_sys=True)
    except SystemExit as end:  # with the number that lrisk gives
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code)


if __name__ == "__main__":
    own = serve()
    if own is not None:
        become(own)
