# SPDX-License-Identifier: MIT
"""pytest plug-in: runs tests on warpfold's software GPU. What the checks find fails the test that caused it.

`pytest --warpfold` starts itself again under `warpfold run` if it does not run there yet.
"""
import ctypes
import os
import shutil
import sys

import pytest

CHECKS = ("memory", "race", "init", "sync", "leak")
DEFAULT_CHECKS = "memory,race,init,sync"
STARTED = "WARPFOLD_PYTEST_STARTED"  # in the environment of the pytest that was started again


class _Finding(ctypes.Structure):
    """softgpu_recorded_finding of softgpu/runtime/abi/testing.h."""
    _fields_ = [("bytes", ctypes.c_size_t), ("check", ctypes.c_char_p), ("kind", ctypes.c_char_p),
                ("message", ctypes.c_char_p), ("kernel", ctypes.c_char_p), ("file", ctypes.c_char_p),
                ("text", ctypes.c_char_p), ("line", ctypes.c_uint64), ("times", ctypes.c_uint64),
                ("is_note", ctypes.c_int32)]


class _SoftwareGpu:
    """The software GPU of this process. Raises OSError if there is none."""

    def __init__(self):
        library = ctypes.CDLL(None)
        try:
            self._take = library.softgpu_take_findings
            self._count = library.softgpu_recording_findings
            self._finding = library.softgpu_recording_finding
            self._free = library.softgpu_recording_free
            self._failed = library.softgpu_testing_device_failed
        except AttributeError as error:
            raise OSError("the software GPU is not loaded in this process") from error
        self._take.restype = ctypes.c_char_p
        self._count.restype = ctypes.c_size_t
        self._count.argtypes = [ctypes.c_void_p]
        self._finding.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(_Finding)]
        self._free.argtypes = [ctypes.c_void_p]

    def take_findings(self):
        """Waits for the device; the findings since the last call, as pairs (text, whether it is only a note)."""
        taken = ctypes.c_void_p()
        wrong = self._take(ctypes.byref(taken))
        if wrong is not None:
            raise OSError(wrong.decode(errors="replace"))
        findings = []
        for number in range(self._count(taken)):
            finding = _Finding(bytes=ctypes.sizeof(_Finding))
            self._finding(taken, number, ctypes.byref(finding))
            findings.append((finding.text.decode(errors="replace"), finding.is_note != 0))
        self._free(taken)
        return findings

    def has_failed(self):
        """Whether a kernel has failed, so that every later CUDA call of this process fails."""
        return self._failed() != 0


class _Findings:
    """Takes the findings of every phase of a test."""

    def __init__(self, gpu, checks):
        self._gpu = gpu
        self._checks = checks
        self._failed_in = None  # the test whose kernel has made the device unusable
        self._count = 0
        self._tests = set()

    def _phase(self, item, when):
        if self._failed_in is not None:
            item.add_report_section(when, "warpfold", f"a kernel failed in {self._failed_in}: as with a GPU, every CUDA "
                                    "call of this process returns its error from then on\n")
        raised = None
        try:
            answer = yield
        except BaseException as error:  # skips and failures of the test, which go on below
            raised = error
        found = self._gpu.take_findings()
        notes = "".join(text for text, is_note in found if is_note)
        errors = [text for text, is_note in found if not is_note]
        if self._failed_in is None and self._gpu.has_failed():
            self._failed_in = item.nodeid
            errors = errors or ["softgpu: a kernel failed; standard error says why\n"]
        if errors:
            self._count += len(errors)
            self._tests.add(item.nodeid)
        if notes:
            item.add_report_section(when, "warpfold", notes)
        if raised is not None:
            if errors:
                item.add_report_section(when, "warpfold", "".join(errors))
            raise raised
        if errors:
            pytest.fail("".join(errors), pytrace=False)
        return answer

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item):
        return (yield from self._phase(item, "setup"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        return (yield from self._phase(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item):
        return (yield from self._phase(item, "teardown"))

    def pytest_report_header(self):
        return f"warpfold: software GPU, checks: {self._checks or 'none'}"

    def pytest_terminal_summary(self, terminalreporter):
        if self._count:
            terminalreporter.write_line(f"warpfold: {self._count} finding{'s' * (self._count != 1)} in "
                                        f"{len(self._tests)} test{'s' * (len(self._tests) != 1)}")


def pytest_addoption(parser):
    group = parser.getgroup("warpfold", "CUDA without a GPU")
    group.addoption("--warpfold", action="store_true",
                    help="run on warpfold's software GPU; what its checks find fails the test that caused it")
    group.addoption("--warpfold-check", metavar="CHECKS", default=None,
                    help=f"{', '.join(CHECKS)}, several with commas between, all, or none (default: {DEFAULT_CHECKS})")


def _checks(options):
    """The checks for SOFTGPU_CHECK, "" for none. The option wins over the environment."""
    if options.warpfold_check is None:
        return os.environ.get("SOFTGPU_CHECK", DEFAULT_CHECKS)
    if options.warpfold_check == "none":
        return ""
    for word in options.warpfold_check.split(","):
        if word not in CHECKS and word != "all":
            raise pytest.UsageError(f"--warpfold-check: there is no check {word!r}; there are "
                                    f"{', '.join(CHECKS)}, all and none")
    return options.warpfold_check


def _start_again(config):
    """Becomes the same command under `warpfold run`."""
    if os.environ.get(STARTED):
        raise pytest.UsageError("--warpfold: `warpfold run` did not load the software GPU into this process")
    command = os.environ.get("WARPFOLD") or shutil.which("warpfold")
    if not command:
        raise pytest.UsageError("--warpfold: the command warpfold is not on the PATH; its file can be named in WARPFOLD")
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ[STARTED] = "1"
    try:
        os.execv(command, [command, "run", "--", sys.executable, *sys.orig_argv[1:]])
    except OSError as error:
        raise pytest.UsageError(f"--warpfold: {command}: {error.strerror}") from error


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # Before conftest.py files, which may load CUDA.
    options = early_config.known_args_namespace
    if not options.warpfold:
        if options.warpfold_check is not None:
            raise pytest.UsageError("--warpfold-check goes with --warpfold")
        return
    checks = _checks(options)
    try:
        gpu = _SoftwareGpu()
    except OSError:
        _start_again(early_config)
    os.environ["SOFTGPU_CHECK"] = checks
    os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")  # each tensor is an allocation with bounds of its own
    early_config.pluginmanager.register(_Findings(gpu, checks), "warpfold-findings")
