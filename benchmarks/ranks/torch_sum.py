# SPDX-License-Identifier: MIT
"""PyTorch's sum of a part and all_reduce of the sums, beside `reduce` of benchmarks/ranks/ranks.cu: rows of its table.

torch_sum.py [LOG2...]: log2 of the elements a GPU, default 28 30. Prints nothing without PyTorch or with one GPU."""
import sys
import time

try:
    import torch
    import torch.distributed as distributed
    import torch.multiprocessing as processes
except ImportError:
    sys.exit(0)


def measure(rank, ranks, logs):
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:29517", rank=rank, world_size=ranks)
    for log in logs:
        part = torch.full((1 << log,), 0.18, device="cuda")
        calls, best = (200, 1e9) if log == 0 else (5, 1e9)
        for _ in range(8):  # the first one starts NCCL
            torch.cuda.synchronize()
            distributed.barrier()
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                distributed.all_reduce(part.sum())
            torch.cuda.synchronize()
            took = torch.tensor([(time.perf_counter() - start) / calls], device="cuda")
            distributed.all_reduce(took, distributed.ReduceOp.MAX)
            best = min(best, took.item())
        if rank == 0:
            rate = 4 * (1 << log) * ranks / best / 1e9
            print(f"| {'sum, all_reduce: PyTorch':24} | 2^{log} | {ranks} | {best * 1e3:10.3f} | {rate:8.0f} |      |")
    distributed.destroy_process_group()


if __name__ == "__main__":
    gpus = torch.cuda.device_count()
    if gpus > 1:
        sizes = [0] + [int(text) for text in sys.argv[1:] or ("28", "30")]
        processes.spawn(measure, (gpus, sizes), nprocs=gpus)
