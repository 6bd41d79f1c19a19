// SPDX-License-Identifier: MIT
// A driver library that reports one GPU (or none: FAKE_DRIVER=none), for tests of what the command does with it.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool none() {
    const char* value = std::getenv("FAKE_DRIVER");
    return value != nullptr && std::string(value) == "none";
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default"))) int

EXPORTED cuInit(unsigned);
EXPORTED cuDriverGetVersion(int*);
EXPORTED cuDeviceGetCount(int*);
EXPORTED cuDeviceGet(int*, int);
EXPORTED cuDeviceGetName(char*, int, int);
EXPORTED cuDeviceTotalMem_v2(std::size_t*, int);
EXPORTED cuDeviceGetAttribute(int*, int, int);

int cuInit(unsigned) { return none() ? 100 : 0; }

int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}

int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}

int cuDeviceGet(int* device, int index) {
    *device = index;
    return 0;
}

int cuDeviceGetName(char* name, int length, int) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = 80'000'000'000;
    return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 38 ? 50'000'000 : -1;
    return 0;
}
