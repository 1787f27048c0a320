"""Python programs in processes that have imported Twinplane before they begin.

Importing takes half a second of processor time, which is more than most commands of the tests need, and there
are hundreds of them. So one process imports all of it and waits; a command is a fork of it, with arguments,
folder, environment and pipes of its own, in the network namespace of the test, and ends with an exit code as
ever. Nothing that one command does to its modules is seen by the next. Some tests of each kind still start
the interpreter, as users do.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SERVERS: dict[tuple[str, ...], tuple[int, subprocess.Popen[bytes], socket.socket]] = {}
"""The waiting processes by what stands before them, each with the process that started it."""
LONGEST = 1 << 18
"""Of a request, in bytes."""
CLONE_NEWNET = 0x40000000


def run(
    *words: str | Path,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
    within: Sequence[str] = (),
    started: Callable[[int], object] = lambda pid: None,
) -> subprocess.CompletedProcess[str]:
    """What ``python WORDS`` does, where the words are ``-m MODULE``, ``-c CODE`` or a file, and arguments.

    `within` is a command that the waiting process is started by; :func:`end` ends that one. `started` is
    called with the process id.
    """
    request = {
        "words": [str(word) for word in words],
        "cwd": str(Path.cwd() if cwd is None else Path(cwd).resolve()),
        "env": dict(os.environ if env is None else env),
    }
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    answers, answers_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ends = [out_end, err_end, answers_end.detach(), os.open("/proc/thread-self/ns/net", os.O_RDONLY)]
    try:
        socket.send_fds(_server(tuple(within)), [json.dumps(request).encode()], ends)
    finally:
        for end in ends:
            os.close(end)
    said: dict[int, str] = {}
    readers = [threading.Thread(target=_read, args=(pipe, said), daemon=True) for pipe in (out, err)]
    for reader in readers:
        reader.start()
    with answers:
        answers.settimeout(timeout)
        pid = int(answers.recv(LONGEST))
        started(pid)
        try:
            code = int(answers.recv(LONGEST))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(request["words"], timeout) from None
    # Whoever has inherited the pipes keeps them open: commands must not leave such processes.
    for reader in readers:
        reader.join(timeout)
        if reader.is_alive():
            raise subprocess.TimeoutExpired(request["words"], timeout)
    return subprocess.CompletedProcess(request["words"], code, said[out], said[err])


def cold(
    *words: str | Path, timeout: float = 300, within: Sequence[str] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    """The same by an interpreter that begins with nothing, as users start it; with options of ``Popen``."""
    line = [*within, sys.executable, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=timeout, **options)


def twinplane(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line, as :func:`run` runs it."""
    return run("-m", "twinplane", *words, **options)


def end(within: Sequence[str]) -> None:
    """End the process that waits within something."""
    if (found := SERVERS.pop(tuple(within), None)) is None:
        return
    owner, process, ours = found
    ours.close()
    if owner == os.getpid():
        process.wait(timeout=60)


@atexit.register
def end_all() -> None:
    """End all processes that wait."""
    for within in list(SERVERS):
        end(within)


def _read(pipe: int, said: dict[int, str]) -> None:
    with open(pipe, encoding="utf-8") as file:
        said[pipe] = file.read()


def _server(within: tuple[str, ...]) -> socket.socket:
    """The connection to the process that waits; a fork of this process has none."""
    owner, process, ours = SERVERS.get(within, (None, None, None))
    if process is None or ours is None or owner != os.getpid() or process.poll() is not None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
        words = [*within, sys.executable, __file__, str(theirs.fileno())]
        # Threads of a library would be missing in forks; OpenBLAS starts some when it is imported.
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=env
        )
        theirs.close()
        SERVERS[within] = os.getpid(), process, ours
    return ours


def serve(requests: socket.socket) -> None:
    """Fork for each request, until whoever asks is gone."""
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready in select.select([requests, *running], [], [])[0]:
            if ready is not requests:
                pid, answers = running.pop(ready)
                _, status = os.waitpid(pid, 0)
                os.close(ready)
                with answers:
                    answers.send(str(os.waitstatus_to_exitcode(status)).encode())
                continue
            text, ends, _, _ = socket.recv_fds(requests, LONGEST, 4)
            if not text:
                return
            out, err, answer, namespace = ends
            pid = os.fork()
            if pid == 0:
                os.dup2(out, 1)
                os.dup2(err, 2)
                enter(namespace)
                for other in (*ends, requests.fileno(), *running, *(a.fileno() for _, a in running.values())):
                    os.close(other)
                begin(json.loads(text))
            for done in (out, err, namespace):
                os.close(done)
            answers = socket.socket(fileno=answer)
            answers.send(str(pid).encode())
            running[os.pidfd_open(pid)] = pid, answers


def enter(namespace: int) -> None:
    """Stand in the network namespace of whoever asks, if it is another."""
    if os.fstat(namespace).st_ino != Path("/proc/self/ns/net").stat().st_ino:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot enter the network namespace")


def begin(request: dict[str, Any]) -> None:
    """Become the program, and end as an interpreter does."""
    import runpy
    import traceback
    import types

    code: object = 0
    try:
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        kind, *rest = request["words"]
        if kind == "-m":
            sys.path[0] = request["cwd"]
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif kind == "-c":
            sys.path[0] = ""
            sys.argv = ["-c", *rest[1:]]
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(rest[0], "<string>", "exec"), main.__dict__)
        else:
            sys.path[0] = str(Path(kind).resolve().parent)
            sys.argv = [kind, *rest]
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as stopped:
        code = stopped.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0)


def main() -> None:
    """Import everything, compute what does not change, and wait."""
    import functools
    import gc
    import importlib
    import pkgutil

    import twinplane
    import typer.main
    from twinplane.cli.app import app

    for found in pkgutil.walk_packages(twinplane.__path__, "twinplane."):
        if found.name != "twinplane.__main__":
            importlib.import_module(found.name)
    for name in ("jinja2", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        importlib.import_module(name)
    # Typer builds all commands at each call, which takes longer than most of them.
    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(app)
    # All of the package is read for it.
    twinplane.core.fingerprint()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
