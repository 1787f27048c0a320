"""What tests share does what it says: else a check that cannot fail would pass unseen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import campaign, children, needs, warm

ROOT = Path(__file__).resolve().parents[1]
HANDED_DOWN = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", HANDED_DOWN)
def test_children_end_by_a_signal_that_their_parent_ignores(number: signal.Signals) -> None:
    """Beside it, a child that is started without the helper: it goes on, so this test shows something."""
    words = [sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"]
    before = signal.signal(number, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_DOWN)
    try:
        plain = subprocess.Popen(words, stdout=subprocess.PIPE)
        ours = children.start(words, stdout=subprocess.PIPE)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(number, before)
    with plain, ours:
        for child in (plain, ours):
            assert child.stdout is not None and child.stdout.readline() == b"\n"
            child.send_signal(number)
        # Python makes SIGINT a KeyboardInterrupt, after which it ends itself by that signal.
        assert ours.wait(30) == -number
        assert plain.poll() is None
        plain.kill()


PROGRAM = """
import os, sys
sys.twinplane_was_here = hasattr(sys, "twinplane_was_here")
print(sys.argv, os.getcwd(), os.environ.get("COLOUR"), __name__, sys.twinplane_was_here)
print("no", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("run", [warm.run, warm.cold])
def test_a_fork_is_as_a_new_interpreter(run: Callable[..., Any], tmp_path: Path) -> None:
    """Twice: the second knows nothing of the first."""
    for code in (0, 7):
        done = run("-c", PROGRAM, str(code), cwd=tmp_path, env={"COLOUR": "red"})
        said = f"['-c', '{code}'] {tmp_path} red __main__ False\n"
        assert (done.returncode, done.stdout, done.stderr) == (code, said, "no\n")
    (tmp_path / "mine.py").write_text("print(__name__, __file__)\n1 / 0\n")
    for words in (["mine.py"], ["-m", "mine"]):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 1 and done.stdout.startswith("__main__ ") and "mine.py\n" in done.stdout
        assert "Traceback" in done.stderr and done.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert run("-c", "import os; os.kill(os.getpid(), 9)").returncode == -signal.SIGKILL
    with pytest.raises(subprocess.TimeoutExpired):
        run("-c", "import time; time.sleep(60)", timeout=1)


def pytest_on(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The settings of all tests, and three tests that need something."""
    (folder / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (folder / "test_made_up.py").write_text(
        "import pytest\n"
        "from support.needs import need\n"
        "@pytest.mark.needs('no-such-program')\n"
        "def test_marked(): pass\n"
        "def test_called(): need('sh', 'no-such-program')\n"
        "@pytest.mark.needs('sh')\n"
        "def test_there(): pass\n"
    )
    known = {name: text for name, text in os.environ.items() if not name.startswith("TWINPLANE_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", "."],
        cwd=folder,
        env={**known, "PYTHONPATH": str(ROOT / "tests"), **variables},
        capture_output=True,
        text=True,
    )


def test_what_is_absent_is_skipped_with_the_reason(tmp_path: Path) -> None:
    done = pytest_on(tmp_path)
    assert done.returncode == 0 and "1 passed, 2 skipped" in done.stdout, done.stdout
    assert "SKIPPED [2]" in done.stdout and "no-such-program is not installed" in done.stdout
    assert "required: nothing" in done.stdout


def test_what_is_absent_and_required_fails(tmp_path: Path) -> None:
    done = pytest_on(tmp_path, TWINPLANE_REQUIRE="sh no-such-program")
    assert done.returncode == 4 and "TWINPLANE_REQUIRE: no-such-program is not installed" in done.stderr


def test_a_requirement_fails_its_test_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(needs.REQUIRE, "root no-such-program")
    with pytest.raises(pytest.fail.Exception, match="but TWINPLANE_REQUIRE lists no-such-program"):
        needs.need("sh", "no-such-program")
    with pytest.raises(pytest.skip.Exception, match="no-such-other is not installed"):
        needs.need("no-such-other")


def test_lengths_of_campaigns(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, runs in (("", 100), ("ci", 100), ("long", 2000), ("0.001", 1), ("3", 300)):
        monkeypatch.setenv(campaign.CAMPAIGN, text)
        assert campaign.scaled(100) == runs
    for text in ("0", "-1", "nan", "inf", "longer"):
        with pytest.raises(ValueError, match=rf"TWINPLANE_CAMPAIGN={text}: 'ci', 'long' or a factor above 0"):
            campaign.factor(text)
    monkeypatch.setenv(campaign.SEED, "x")
    with pytest.raises(ValueError, match="TWINPLANE_SEED=x: a whole number"):
        campaign.seed()
