# SPDX-License-Identifier: MIT
# Ranks of the software GPU's NCCL in processes: each is `warpfold run -- nccl_process`. Usage: nccl_processes.py TOOL PROGRAM
import glob
import subprocess
import sys
import tempfile

tool, program = sys.argv[1:3]
del sys.argv[1:3]
import unittest


def run(ranks, *more):
    with tempfile.TemporaryDirectory() as folder:
        started = [subprocess.Popen([tool, "run", "--", program, folder + "/id", str(ranks), str(rank), *more],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for rank in range(ranks)]
        try:
            return [(*p.communicate(timeout=60), p.returncode) for p in started]
        finally:
            for p in started:
                p.kill()


class Processes(unittest.TestCase):
    def test_four_ranks(self):
        before = set(glob.glob("/dev/shm/softgpu-nccl-*"))
        for rank, (out, err, code) in enumerate(run(4)):
            self.assertEqual((code, out.strip()), (0, f"rank {rank} of 4: right"), err)
        self.assertEqual(set(glob.glob("/dev/shm/softgpu-nccl-*")) - before, set(), "nothing is left behind")

    def test_a_rank_that_dies_is_an_error_at_the_others(self):
        for rank, (out, err, code) in enumerate(run(3, "dies")):
            self.assertEqual(code, 0, err)
            if rank != 2:
                self.assertEqual(out.strip(), f"rank {rank}: the error came")
                self.assertIn("ncclAllReduce of 400000 bytes: rank 2 has ended", err)


unittest.main()
