#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# benchmarks/ranks/ranks.sh [LOG2...]: builds and runs benchmarks/ranks/ranks.cu on all GPUs of this machine: checks, latencies,
# times. Needs nvcc, and NCCL: its wheel nvidia-nccl-cu13 (or -cu12), or a system's. NCCL_HOME names another folder with
# include/ and lib/. Work in $RANKS_BUILD, default build/ranks.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${RANKS_BUILD:-$root/build/ranks}
mkdir -p "$build"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
nccl=${NCCL_HOME:-$(python3 - <<'PY'
import glob, site, sys
try:
    import nvidia
    folders = list(nvidia.__path__)
except ImportError:
    folders = []
folders += [path + "/nvidia" for path in [*site.getsitepackages(), site.getusersitepackages(), *sys.path] if path]
found = [folder + "/nccl" for folder in folders if glob.glob(folder + "/nccl/include/nccl.h")]
print(found[0] if found else "/usr")
PY
)}
library=
for candidate in "$nccl"/lib/libnccl.so* "$nccl"/lib64/libnccl.so* "$nccl"/lib/x86_64-linux-gnu/libnccl.so*; do
    if [ -f "$candidate" ]; then
        library=$candidate
        break
    fi
done
[ -n "$library" ] || { echo "ranks: no libnccl.so under $nccl; name its folder in NCCL_HOME" >&2; exit 1; }
echo "ranks: NCCL of $nccl"
"$nvcc" -std=c++20 -O3 -arch="${RANKS_ARCH:-native}" -I"$root" -I"$root/include" -isystem "$nccl/include" \
    -o "$build/ranks" "$root/benchmarks/ranks/ranks.cu" -Xlinker "$library" -Xlinker -rpath -Xlinker "$(dirname "$library")" -lpthread
# Not every host allows NVLink multicast.
export NCCL_NVLS_ENABLE=0
"$build/ranks" "$@"
timeout 20 "$build/ranks" --faults || echo "ranks: faults are not reported in time" >&2
for peer in torch_sum cupy_sum; do
    timeout 60 python3 "$root/benchmarks/ranks/$peer.py" "$@" || echo "ranks: $peer.py failed" >&2
done
