# SPDX-License-Identifier: MIT
"""The command under mpirun, and on several GPUs, prints once what it prints alone."""
import concurrent.futures
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

TOOL = os.environ["WARPFOLD_TOOL"]
SHORTER = os.environ["WARPFOLD_SHORTER"]
GPU = os.environ["WARPFOLD_GPU"] == "1"
MPIRUN = [os.environ["WARPFOLD_MPIRUN"], "--oversubscribe", "-n"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def at_once(work, cases):
    """work(case) of each: mpirun sleeps for most of the time that it takes to end ranks which have failed."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return list(pool.map(work, cases))


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, code, values):
        path = self.folder / name
        path.write_bytes(struct.pack(f"<{len(values)}{code}", *values))
        return str(path)

    def ways(self, arguments):
        """The commands that must do what one process on the host does."""
        yield [*MPIRUN, "3", TOOL, *arguments, "--device", "host"]
        if GPU:
            yield [TOOL, *arguments, "--device", "softgpu"]
            yield [TOOL, *arguments, "--device", "softgpu", "--gpus", "3"]
            yield [*MPIRUN, "2", TOOL, *arguments, "--device", "softgpu"]

    def expect_same(self, *arguments):
        alone = run(TOOL, *arguments, "--device", "host")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertNotEqual(alone.stdout, "")
        for command in self.ways(arguments):
            together = run(*command)
            self.assertEqual((together.returncode, together.stdout), (0, alone.stdout), together.stderr)

    def test_sums_and_histograms(self):
        draw = random.Random(1)
        doubles = [draw.uniform(-1, 1) * 2.0 ** draw.randint(-60, 60) for _ in range(10007)]
        shorts = [draw.randint(-32768, 32767) for _ in range(1001)]
        self.expect_same("sum", "--type", "double", self.file("doubles", "d", doubles))
        self.expect_same("sum", "--type", "int16", self.file("shorts", "h", shorts), self.file("one", "h", [5]))
        self.expect_same("histogram", "--type", "int16", "--bins", "7", self.file("shorts", "h", shorts))

    def test_range_of_all_parts(self):
        for values in ([7], [5, -3], [3, 3, 3, 3], list(range(100, -1001, -7))):
            self.expect_same("histogram", "--type", "int32", "--bins", "3", self.file("ints", "i", values))
        doubles = [0.5 * k for k in range(-7, 1000, 3)]
        self.expect_same("histogram", "--type", "double", "--bins", "5", self.file("doubles", "d", doubles))
        unbounded = self.file("unbounded", "f", [1.0, float("inf"), 2.0])
        for command in self.ways(("histogram", "--type", "float", unbounded)):
            answer = run(*command)
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn("not all elements are finite", answer.stderr)

    def test_each_rank_reads_its_part_alone(self):
        path = self.folder / "bytes"
        path.write_bytes(bytes(range(255)) * 2**17)
        # A shell's count of bytes read holds those of the commands that it has waited for.
        script = f"{TOOL} histogram --type uint8 --bins 5 {path} --device host; grep rchar /proc/$$/io >&2"
        answer = run(*MPIRUN, "2", "bash", "-c", script)
        self.assertEqual(answer.stdout, run(TOOL, "histogram", "--type", "uint8", "--bins", "5", str(path),
                                            "--device", "host").stdout)
        read = [int(line.split()[1]) for line in answer.stderr.splitlines() if line.startswith("rchar")]
        self.assertEqual(len(read), 2, answer.stderr)
        whole = path.stat().st_size  # half of it for the range, half for the counts
        self.assertTrue(all(whole <= one < 1.3 * whole for one in read), f"{read} of {whole} bytes")

    def expect_same_file(self, *arguments):
        alone = run(TOOL, *arguments, "--device", "host", "--out", str(self.folder / "alone"))
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for command in self.ways((*arguments, "--out", str(self.folder / "together"))):
            together = run(*command)
            self.assertEqual((together.returncode, together.stdout), (0, ""), together.stderr)
            self.assertEqual((self.folder / "together").read_bytes(), (self.folder / "alone").read_bytes())

    def test_reductions_and_scans(self):
        draw = random.Random(2)
        ints = self.file("ints", "i", [draw.randint(-2**31, 2**31 - 1) for _ in range(10007)])
        floats = self.file("floats", "f", [float(draw.randint(-99, 99)) for _ in range(1001)])
        two = self.file("two", "f", [-0.0, -0.0])
        self.expect_same("reduce", "--type", "int32", "--op", "product", ints)
        self.expect_same("reduce", "--type", "int32", "--op", "largest-magnitude", ints)
        self.expect_same("reduce", "--type", "float", two)
        self.expect_same_file("scan", "--type", "int32", ints)
        self.expect_same_file("scan", "--type", "int32", "--op", "product", "--exclusive", ints)
        self.expect_same("scan", "--type", "float", "--op", "max", "--reverse", floats)
        self.expect_same("scan", "--type", "float", "--exclusive", "--reverse", floats)
        self.expect_same("scan", "--type", "float", two)

    def test_convolutions(self):
        draw = random.Random(3)
        mask = self.file("mask", "h", [1, -2, 3, 4])
        line = self.file("line", "h", [draw.randint(-99, 99) for _ in range(1009)])
        self.expect_same("convolve", "--type", "int16", "--mask", mask, "--border", "wrap", line)
        shape = (2, 11, 13)
        images = self.npy("images.npy", shape, [draw.randint(-99, 99) for _ in range(2 * 11 * 13)])
        image = self.npy("image.npy", shape[1:], [draw.randint(-99, 99) for _ in range(11 * 13)])
        square = self.npy("square.npy", (3, 5), [draw.randint(-9, 9) for _ in range(15)])
        self.expect_same_file("convolve", "--mask", square, "--border", "mirror", image)
        self.expect_same_file("convolve", "--mask", square, "--size", "full", "--correlate", images)
        answer = run(*MPIRUN, "2", TOOL, "convolve", "--mask", square, "--size", "full", image)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("over several ranks or GPUs one array is convolved with --size same", answer.stderr)

    def npy(self, name, shape, values):
        head = repr({"descr": "<i2", "fortran_order": False, "shape": shape}).encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        path = self.folder / name
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
                         + struct.pack(f"<{len(values)}h", *values))
        return str(path)

    def test_what_there_is_not(self):
        path = self.file("shorts", "h", [1, 2])
        of = [TOOL, "sum", "--type", "int16", path]
        cases = [([*MPIRUN, "2", *of, "--gpus", "2"], "under mpirun each rank has one GPU"),
                 ([*of, "--device", "host", "--gpus", "2"], "are not for --device host"),
                 ([*of, "--gpus", "0"], "--gpus: 0 is neither all nor between 1 and 64"),
                 ([*of, "--gpus", "few"], "--gpus: "),
                 ([*MPIRUN, "3", TOOL, "scan", "--type", "int16", path, "--out", "/nowhere/results"], "/nowhere"),
                 ([*MPIRUN, "2", TOOL, "reduce", "--type", "int32", self.file("ints", "i", [1]), "--json", "/nowhere/x"],
                  "/nowhere")]
        if GPU:
            cases += [(["env", f"SOFTGPU_DEVICES={there}", *of, "--device", "softgpu", "--gpus", asked], message)
                      for there, asked, message in [("2", "3", "--gpus: 3 are asked for, and there are 2"),
                                                    ("0", "all", "--gpus: there is no GPU")]]
        for command, message in cases:
            answer = run(*command)
            self.assertNotEqual(answer.returncode, 0)
            self.assertEqual(answer.stdout, "")
            self.assertIn(message, answer.stderr)

    def test_a_wrong_file_is_one_line(self):
        (self.folder / "odd").write_bytes(b"x" * 13)
        (self.folder / "empty").write_bytes(b"")
        mask = self.file("mask", "h", [1, 2, 1])
        commands = [[*MPIRUN, "4", TOOL, *call, "--type", "int16", str(self.folder / name), "--device", "host"]
                    for name in ("odd", "missing", "")
                    for call in (["sum"], ["scan"], ["histogram"], ["convolve", "--mask", mask])]
        for answer in at_once(lambda command: run(*command), commands):
            self.assertNotEqual(answer.returncode, 0)
            self.assertEqual(answer.stdout, "")
            lines = [line for line in answer.stderr.splitlines() if line.startswith("warpfold: ")]
            self.assertEqual(len(lines), 1, answer.stderr)
        for few in ("empty", "mask"):  # fewer elements than ranks
            self.expect_same("sum", "--type", "int16", str(self.folder / few))

    def expect_one_line(self, answer, *words):
        self.assertGreater(answer.returncode, 0, answer.stderr)
        lines = [line for line in answer.stderr.splitlines() if line.startswith("warpfold: ")]
        self.assertEqual(len(lines), 1, answer.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertNotIn("signal", answer.stderr)

    def test_a_file_that_becomes_shorter_is_one_line(self):
        ranks, each = 4, 2**18
        # The second element: how often a rank has begun to read its part when the file ends there.
        calls = [(["scan"], 1), (["scan", "--reverse"], 1), (["sum"], 1), (["histogram"], 1), (["reduce"], 1),
                 (["histogram"], 2), (["scan"], 2), (["scan", "--reverse"], 2), (["scan", "--out", "/dev/null"], 2),
                 (["reduce"], 2)]
        cases = [(call, times, rank) for call, times in calls for rank in range(ranks)
                 # It reads its part once; of reduce the first one looks whether the sum is too large.
                 if times == 1 or not (call[0] == "scan" and rank == (0 if "--reverse" in call else ranks - 1) or
                                       call[0] == "reduce" and rank != 0)]

        def answer_to(case):
            call, times, rank = case
            path = self.folder / f"bytes-{cases.index(case)}"
            path.write_bytes(bytes(ranks * each))
            header = 1 if rank == 0 else 0
            answer = run(*MPIRUN, str(ranks), "env", f"LD_PRELOAD={SHORTER}", f"SHORTER_FILE={path}",
                         f"SHORTER_AT={rank * each}", f"SHORTER_TIMES={times + header}", TOOL, *call, "--type",
                         "int32", str(path), "--device", "host")
            return answer, path.stat().st_size

        for (call, times, rank), (answer, size) in zip(cases, at_once(answer_to, cases)):
            with self.subTest(call=call, times=times, rank=rank):
                self.assertEqual(size, rank * each, "it became shorter")
                self.expect_one_line(answer, "it became shorter while it was read")

    def test_an_image_that_becomes_shorter_is_one_line(self):
        path, mask = self.folder / "bytes", self.file("mask", "i", [1, 2, 1])
        for ranks in ([], [*MPIRUN, "3"]):  # each reads all of it, 2^20 bytes at a time
            path.write_bytes(bytes(2**21))
            answer = run(*ranks, "env", f"LD_PRELOAD={SHORTER}", f"SHORTER_FILE={path}", f"SHORTER_AT={2**20}",
                         "SHORTER_TIMES=1", TOOL, "convolve", "--type", "int32", "--mask", mask, str(path),
                         "--device", "host")
            self.assertEqual(path.stat().st_size, 2**20)
            self.expect_one_line(answer, "it became shorter while it was read")

    @unittest.skipUnless(GPU, "built without nvcc")
    def test_all_gpus(self):
        path = self.file("shorts", "h", [1, 2, 5])
        answer = run("env", "SOFTGPU_DEVICES=4", TOOL, "reduce", "--type", "int32", self.file("ints", "i", [3, 4, 5]),
                     "--device", "softgpu", "--gpus", "all", "--json", "-")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("4 GPUs, the first is ", answer.stdout)
        answer = run("env", "SOFTGPU_DEVICES=4", TOOL, "sum", "--type", "int16", path, "--device", "softgpu",
                     "--gpus", "all")
        self.assertEqual((answer.returncode, answer.stdout), (0, "8\n"), answer.stderr)


if __name__ == "__main__":
    unittest.main()
