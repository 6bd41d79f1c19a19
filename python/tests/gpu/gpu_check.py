#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package on a machine with a GPU, beside PyTorch and CuPy: what is there of the two.

First every function is compared with NumPy or the host, for arrays of both packages on a stream of their own, and PyTorch's
operators are checked (gpu_cases.py). Then a table on stdout, separated by tabs: function, elements, package, host time per call
and device time per call, both in microseconds, beside cuda.compute where that is there. Run it
where `warpfold` and its `_gpu` are importable. Ends with status 1 if a result is wrong. `gpu_check.py checks`, or `times`, is one of
both parts.
"""
import importlib
import sys
import time

import numpy as np

import warpfold as wf
from gpu_cases import numpy_cases, operator_cases, own_cases

SIZES = (1_000, 1_000_000, 100_000_000)
TYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")


class Package:
    """Arrays of a package on a GPU."""

    @staticmethod
    def by_host(call, *arrays):
        """The result for arrays in host memory."""
        return call(*arrays)

    def more_checks(self):
        """(name, function that raises) beside the comparisons."""
        return ()


def torch_functions(t, device):
    """PyTorch's, by the names of the table."""
    edges, gauss = t.linspace(0, 1, 11, device=device), t.ones((1, 1, 9), device=device) / 9
    return {
        "sum": t.sum, "prod": t.prod, "max": t.max, "mean": t.mean, "var": lambda a: t.var(a, correction=0), "argmax": t.argmax,
        "minmax": t.aminmax, "any": t.any, "count_nonzero": t.count_nonzero, "cumsum": lambda a: t.cumsum(a, 0),
        "cummax": lambda a: t.cummax(a, 0), "sum axis 0": lambda a: t.sum(a, 0), "sum axis 1": lambda a: t.sum(a, 1),
        "histogram": lambda a: t.histc(a, 100), "histogram, range": lambda a: t.histc(a, 100, 0, 1), "bincount": t.bincount,
        "convolve": lambda a, v: t.nn.functional.conv1d(a[None, None], v.flip(0)[None, None], padding="same"),
        "norm": t.linalg.vector_norm, "select": lambda a: a[a > 0.5], "unique_consecutive": t.unique_consecutive,
        "digitize": lambda a: t.bucketize(a, edges), "gaussian_blur": lambda a: t.nn.functional.conv2d(
            t.nn.functional.conv2d(a[None, None], gauss[:, None], padding="same"), gauss[None], padding="same"),
        "correlate_channels": t.nn.functional.conv2d, "op": lambda a: t.sqrt(a * a + 1), "op sum": lambda a: t.sum(t.sqrt(a * a + 1))}


def module_functions(m):
    """NumPy's or CuPy's, by the names of the table."""
    edges = m.linspace(0, 1, 11, dtype=np.float32)
    return {
        "sum": m.sum, "prod": m.prod, "max": m.max, "mean": m.mean, "var": m.var, "argmax": m.argmax, "any": m.any,
        "minmax": lambda a: (m.min(a), m.max(a)), "count_nonzero": m.count_nonzero, "cumsum": m.cumsum,
        "sum axis 0": lambda a: m.sum(a, 0), "sum axis 1": lambda a: m.sum(a, 1), "histogram": lambda a: m.histogram(a, 100),
        "histogram, range": lambda a: m.histogram(a, 100, (0, 1)), "bincount": m.bincount,
        "convolve": lambda a, v: m.convolve(a, v, "same"), "norm": m.linalg.norm, "select": lambda a: a[a > 0.5],
        "digitize": lambda a: m.digitize(a, edges), "op": lambda a: m.sqrt(a * a + 1), "op sum": lambda a: m.sum(m.sqrt(a * a + 1))}


class Torch(Package):
    """PyTorch's arrays on a stream that is not the default one."""

    name = "torch"

    def __init__(self):
        self.torch = importlib.import_module("torch")
        self.torch.zeros(1, device="cuda")
        self.stream = self.torch.cuda.Stream()
        self.torch.cuda.set_stream(self.stream)
        self.functions = torch_functions(self.torch, "cuda")

    def array(self, values):
        return self.torch.from_numpy(np.array(values)).cuda()

    def host(self, result):
        assert isinstance(result, self.torch.Tensor), type(result)
        return result.cpu().numpy()

    def more_checks(self):
        return operator_cases(self.torch)

    def version(self):
        return f"PyTorch {self.torch.__version__}"

    def device_name(self):
        return self.torch.cuda.get_device_name()

    def synchronize(self):
        self.torch.cuda.synchronize()

    def device_time(self, work, repeats):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / repeats


class CuPy(Package):
    """CuPy's arrays on a stream that does not wait for the default one."""

    name = "cupy"

    def __init__(self):
        self.cupy = c = importlib.import_module("cupy")
        c.zeros(1)
        self.stream = c.cuda.Stream(non_blocking=True)
        self.stream.use()
        self.functions = {**module_functions(c), "op": c.fuse(self.root)}

    def root(self, a):  # by a name: CuPy makes it that of a kernel
        return self.cupy.sqrt(a * a + 1)

    def array(self, values):
        return self.cupy.asarray(values)

    def host(self, result):
        assert isinstance(result, self.cupy.ndarray), type(result)
        return self.cupy.asnumpy(result)

    def version(self):
        return f"CuPy {self.cupy.__version__}"

    def device_name(self):
        return self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()

    def device_time(self, work, repeats):
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        begin.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end) * 1000 / repeats


ROOT, EDGES = wf.op("sqrt(a * a + 1)"), np.linspace(0, 1, 11, dtype=np.float32)

# Ours, by the names of the table.
OURS = {"sum": wf.sum, "prod": wf.prod, "max": wf.max, "mean": wf.mean, "var": wf.var, "argmax": wf.argmax, "minmax": wf.minmax, "any": wf.any,
        "count_nonzero": wf.count_nonzero, "cumsum": wf.cumsum, "cummax": wf.cummax,
        "sum axis 0": lambda a: wf.sum(a, 0), "sum axis 1": lambda a: wf.sum(a, 1), "exact_sum": wf.exact_sum,
        "histogram": lambda a: wf.histogram(a, 100), "histogram, range": lambda a: wf.histogram(a, 100, (0, 1)), "bincount": wf.bincount,
        "convolve": lambda a, v: wf.convolve(a, v, "same"), "norm": wf.norm, "select": lambda a: wf.select(a, a > 0.5),
        "unique_consecutive": wf.unique_consecutive, "digitize": lambda a: wf.digitize(a, EDGES),
        "gaussian_blur": lambda a: wf.gaussian_blur(a, 1), "correlate_channels": wf.correlate_channels, "op": ROOT, "op sum": ROOT.reduce}


def compute_functions(package):
    """Those of cuda.compute, NVIDIA's CUB for Python, by the names of the table; empty if it is not here."""
    try:
        compute = importlib.import_module("cuda.compute")
        plus, largest = compute.OpKind.PLUS, compute.OpKind.MAXIMUM
    except (ImportError, AttributeError) as error:
        print(f"cuda.compute is not here: {error}", file=sys.stderr)
        return {}
    one, rooms = package.array(np.zeros(1, np.float32)), {}

    def room(a, dtype, n):
        return rooms.setdefault((dtype, n), package.array(np.zeros(n, dtype)))

    def reduce(op, first):
        return lambda a: compute.reduce_into(d_in=a, d_out=one, num_items=len(a), op=op, h_init=np.array([first], np.float32),
                                             stream=package.stream)

    return {"sum": reduce(plus, 0), "max": reduce(largest, -np.inf),
            "cumsum": lambda a: compute.inclusive_scan(d_in=a, d_out=room(a, np.float32, len(a)), op=plus,
                                                       init_value=np.zeros(1, np.float32), num_items=len(a),
                                                       stream=package.stream),
            "histogram, range": lambda a: compute.histogram_even(
                d_samples=a, d_histogram=room(a, np.int32, 100), num_output_levels=101, lower_level=np.float32(0),
                upper_level=np.float32(1), num_samples=len(a), stream=package.stream)}


def differs(ours, theirs):
    """What is wrong with a result; None if nothing is."""
    theirs = np.asarray(theirs)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype} {ours.shape} instead of {theirs.dtype} {theirs.shape}"
    tolerance = {2: 2e-2, 4: 1e-4, 8: 1e-10}[theirs.dtype.itemsize] if theirs.dtype.kind == "f" else 0
    if not np.allclose(ours.astype(float), theirs.astype(float), tolerance, tolerance, equal_nan=True):
        return f"{ours.reshape(-1)[:4]} instead of {theirs.reshape(-1)[:4]}"
    return None


def flat(results):
    """The arrays of results that may be tuples and lists."""
    if isinstance(results, (tuple, list)):
        return [array for result in results for array in flat(result)]
    return [results]


def check(package):
    """Compares all functions, types and some layouts with NumPy or the host. The number of wrong results."""
    wrong = done = 0
    for dtype in TYPES:
        base = np.random.default_rng(1).integers(-2 if dtype[0] in "if" else 0, 3, (40, 18)).astype(dtype)
        on_device = package.array(base)
        for layout, view in (("rows", lambda x: x[::2]), ("transposed", lambda x: x.T[:, ::2])):
            host = np.ascontiguousarray(view(base))
            with np.errstate(all="ignore"):
                all_cases = [(name, lambda *a, call=call: call(wf, *a), arrays, call(np, *arrays))
                             for name, call, arrays in numpy_cases(host)]
                all_cases += [(name, call, arrays, package.by_host(call, *arrays)) for name, call, arrays in own_cases(host)]
            for name, call, arrays, theirs in all_cases:
                # The view itself where the case takes the array, so that strides are read in place.
                given = [view(on_device) if array is host else package.array(array) for array in arrays]
                try:
                    ours = [package.host(result) for result in flat(call(*given))]
                    fault = next(filter(None, map(differs, ours, flat(theirs))), None)
                except Exception as error:  # pylint: disable=broad-except
                    fault = f"{type(error).__name__}: {error}"
                done += 1
                if fault:
                    wrong += 1
                    print(f"{package.name} {dtype} {layout} {name}: {fault}", file=sys.stderr)
    for name, operator_check in package.more_checks():
        done += 1
        try:
            operator_check()
        except Exception as error:  # pylint: disable=broad-except
            wrong += 1
            print(f"{package.name} {name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"{package.name}: {done - wrong} of {done} results are right", file=sys.stderr)
    return wrong


def arguments(package, name, n):
    """Arrays for a row of the table."""
    values = np.random.default_rng(2)
    if name == "bincount":
        return (package.array(values.integers(0, 100, n)),)
    floats = values.random(n, np.float32)
    if name.startswith("sum axis") or name == "gaussian_blur":
        side = int(n ** 0.5)
        return (package.array(floats[:side * side].reshape(side, side)),)
    if name == "convolve":
        return package.array(floats), package.array(floats[:31])
    if name == "correlate_channels":  # 8 channels, 16 outputs, masks of 5 x 5
        side = int((n / 8) ** 0.5)
        return package.array(floats[:8 * side * side].reshape(1, 8, side, side)), package.array(values.random((16, 8, 5, 5), np.float32))
    return (package.array(floats),)


def host_time(package, work, rounds, repeats):
    """Microseconds that a call takes on the host, with an idle device: the least mean of a round."""
    best = float("inf")
    for _ in range(rounds):
        package.synchronize()
        begin = time.perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, (time.perf_counter() - begin) / repeats)
    package.synchronize()
    return best * 1e6


def measure(package):
    computes = compute_functions(package)
    for name, ours in OURS.items():
        for n in SIZES:
            arrays = arguments(package, name, n)
            for whose, function in (("warpfold", ours), (package.name, package.functions.get(name)),
                                    ("cuda.compute", computes.get(name))):
                if function is None:
                    continue
                work = lambda: function(*arrays)  # noqa: E731  pylint: disable=cell-var-from-loop
                try:
                    for _ in range(3):
                        begin = time.perf_counter()
                        work()
                        package.synchronize()
                        taken = time.perf_counter() - begin
                except Exception as error:  # pylint: disable=broad-except
                    print(f"{name} {n} by {whose}: {type(error).__name__}: {error}", file=sys.stderr)
                    continue
                repeats = 1 if taken > 0.01 else 20 if n <= 1_000_000 else 5
                host = host_time(package, work, 20 if taken < 0.001 else 5, min(repeats, 5))
                device = min(package.device_time(work, repeats) for _ in range(3))
                print(f"{name}\t{n}\t{package.name}\t{whose}\t{host:.1f}\t{device:.1f}", flush=True)


def main():
    packages = []
    for kind in (Torch, CuPy):
        try:
            packages.append(kind())
        except ImportError as error:
            print(f"{kind.name} is not here: {error}", file=sys.stderr)
    if not packages:
        sys.exit("neither PyTorch nor CuPy is here")
    parts = sys.argv[1:] or ["checks", "times"]
    wrong = sum(check(package) for package in packages) if "checks" in parts else 0
    if "times" not in parts:
        sys.exit(1 if wrong else 0)
    print(f"# {packages[0].device_name()}; {', '.join(package.version() for package in packages)}; {time.strftime('%Y-%m-%d')}")
    print("function\telements\tarrays of\tcomputed by\thost us\tdevice us")
    for package in packages:
        measure(package)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
