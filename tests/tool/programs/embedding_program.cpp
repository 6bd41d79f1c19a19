// SPDX-License-Identifier: MIT
// Looks like a program of nvcc that is linked with the static CUDA runtime: it has the section of kernels, and needs no
// shared runtime.
#include <cstdio>

namespace {

[[gnu::used, gnu::section(".nv_fatbin")]] const char kernels[] = "kernels";

} // namespace

int main() {
    std::puts("ran");
    return 0;
}
