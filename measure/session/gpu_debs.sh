#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches into .gpu-debs/ the packages that ./dev gpu needs on a machine with a GPU and nvcc, but no network.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
packages=(libcli11-dev libfmt-dev nlohmann-json3-dev libzstd-dev libzstd1 liblz4-dev liblz4-1 libtbb-dev libgtest-dev
    pkg-config pkgconf pkgconf-bin)
# Runtime libraries of the -dev packages; their names contain a version.
patterns=('libfmt[0-9]+' 'libtbb[0-9]+' 'libtbbmalloc[0-9]+' 'libpkgconf[0-9]+')

command -v apt-get >/dev/null || { echo "gpu-debs: no apt-get here" >&2; exit 1; }
for pattern in "${patterns[@]}"; do
    while IFS= read -r name; do
        packages+=("$name")
    done < <(apt-cache pkgnames | grep -xE "$pattern" || true)
done
available=()
for package in "${packages[@]}"; do
    if [ -n "$(apt-cache policy "$package" 2>/dev/null | sed -n 's/.*Candidate: \([^(].*\)/\1/p')" ]; then
        available+=("$package")
    fi
done
[ ${#available[@]} -gt 0 ] || { echo "gpu-debs: apt knows none of the packages; run apt-get update first" >&2; exit 1; }
mkdir -p "$root/.gpu-debs"
cd "$root/.gpu-debs"
rm -f ./*.deb
apt-get download "${available[@]}" >&2
du -shc ./*.deb | tail -n 1 | sed 's/total/in .gpu-debs/' >&2
