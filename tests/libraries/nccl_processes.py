# SPDX-License-Identifier: MIT
# Ranks of the software GPU's NCCL in processes: each is `warpfold run -- nccl_process`. Usage: nccl_processes.py TOOL PROGRAM
import os
import struct
import subprocess
import sys
import tempfile

tool, program = sys.argv[1:3]
del sys.argv[1:3]
import unittest


def run(ranks, *more):
    """Output, errors and status of each rank; the folder in which they met."""
    with tempfile.TemporaryDirectory() as folder:
        started = [subprocess.Popen([tool, "run", "--", program, folder + "/id", str(ranks), str(rank), *more],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for rank in range(ranks)]
        try:
            ended = [(*p.communicate(timeout=400), p.returncode) for p in started]
            with open(folder + "/id", "rb") as file:  # as softgpu/runtime/nccl/communicators.cpp has it
                mark, process, number, time = struct.unpack("<8sQQQ", file.read(32))
            assert mark == b"softgpu\0"
            return ended, f"/dev/shm/softgpu-nccl-{process}-{number}-{time}"
        finally:
            for p in started:
                p.kill()


class Processes(unittest.TestCase):
    def test_four_ranks(self):
        ended, place = run(4)
        for rank, (out, err, code) in enumerate(ended):
            self.assertEqual((code, out.strip()), (0, f"rank {rank} of 4: right"), err)
        self.assertFalse(os.path.exists(place), "nothing is left behind")

    def test_a_rank_that_dies_is_an_error_at_the_others(self):
        ended, place = run(3, "dies")
        self.assertFalse(os.path.exists(place), "the last that lives leaves nothing behind")
        for rank, (out, err, code) in enumerate(ended):
            self.assertEqual(code, 0, err)
            if rank != 2:
                self.assertEqual(out.strip(), f"rank {rank}: the error came")
                self.assertIn("ncclAllReduce of 400000 bytes: rank 2 has ended", err)


unittest.main()
