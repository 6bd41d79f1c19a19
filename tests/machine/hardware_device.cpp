// SPDX-License-Identifier: MIT
// The GPU of this host behind the tests' device, through the CUDA driver, which is loaded only where it is asked for.
#include <dlfcn.h>

#include <stdexcept>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {

namespace {

// The driver's own calls, by their documented signatures.
struct driver {
    int (*init)(unsigned);
    int (*device_get)(int*, int);
    int (*retain)(void**, int);
    int (*set_current)(void*);
    int (*load)(void**, const void*);
    int (*unload)(void*);
    int (*get_function)(void**, void*, const char*);
    int (*get_global)(unsigned long long*, std::size_t*, void*, const char*);
    int (*allocate)(unsigned long long*, std::size_t);
    int (*release)(unsigned long long);
    int (*to_device)(unsigned long long, const void*, std::size_t);
    int (*to_host)(void*, unsigned long long, std::size_t);
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
    int (*cooperative)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**);
    int (*synchronize)();
};

void want(int status, const char* call) {
    if (status != 0) {
        throw std::runtime_error(std::string(call) + " failed: CUresult " + std::to_string(status));
    }
}

const driver& cuda() {
    static const driver loaded = [] {
        void* const library = dlopen("libcuda.so.1", RTLD_NOW);
        if (library == nullptr) {
            throw std::runtime_error("SOFTGPU_TEST_ON=gpu: no libcuda.so.1 here");
        }
        driver d{};
        const auto find = [&](auto& to, const char* name) {
            to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(library, name));
            if (to == nullptr) {
                throw std::runtime_error(std::string("libcuda.so.1 has no ") + name);
            }
        };
        find(d.init, "cuInit");
        find(d.device_get, "cuDeviceGet");
        find(d.retain, "cuDevicePrimaryCtxRetain");
        find(d.set_current, "cuCtxSetCurrent");
        find(d.load, "cuModuleLoadData");
        find(d.unload, "cuModuleUnload");
        find(d.get_function, "cuModuleGetFunction");
        find(d.get_global, "cuModuleGetGlobal_v2");
        find(d.allocate, "cuMemAlloc_v2");
        find(d.release, "cuMemFree_v2");
        find(d.to_device, "cuMemcpyHtoD_v2");
        find(d.to_host, "cuMemcpyDtoH_v2");
        find(d.launch, "cuLaunchKernel");
        find(d.cooperative, "cuLaunchCooperativeKernel");
        find(d.synchronize, "cuCtxSynchronize");
        want(d.init(0), "cuInit");
        int number = 0;
        want(d.device_get(&number, 0), "cuDeviceGet");
        void* context = nullptr;
        want(d.retain(&context, number), "cuDevicePrimaryCtxRetain");
        want(d.set_current(context), "cuCtxSetCurrent");
        return d;
    }();
    return loaded;
}

class hardware_device final : public device {
public:
    explicit hardware_device(const std::string& ptx) { want(cuda().load(&module_, ptx.c_str()), "cuModuleLoadData"); }
    ~hardware_device() override {
        for (const std::uint64_t at : allocated_) {
            cuda().release(at);
        }
        cuda().unload(module_);
    }
    hardware_device(const hardware_device&) = delete;
    hardware_device& operator=(const hardware_device&) = delete;

    std::uint64_t allocate(std::uint64_t bytes) override {
        unsigned long long at = 0;
        want(cuda().allocate(&at, bytes), "cuMemAlloc");
        allocated_.push_back(at);
        return at;
    }
    void release(std::uint64_t at) override {
        std::erase(allocated_, at);
        want(cuda().release(at), "cuMemFree");
    }
    void write(std::uint64_t at, const void* from, std::uint64_t bytes) override {
        want(cuda().to_device(at, from, bytes), "cuMemcpyHtoD");
    }
    void read(void* to, std::uint64_t at, std::uint64_t bytes) override {
        want(cuda().to_host(to, at, bytes), "cuMemcpyDtoH");
    }
    std::uint64_t variable(const std::string& name) override {
        unsigned long long at = 0;
        std::size_t bytes = 0;
        want(cuda().get_global(&at, &bytes, module_, name.c_str()), "cuModuleGetGlobal");
        return at;
    }
    machine::launch_result launch(const std::string& name, const launch_options& how,
                                  const std::vector<std::uint64_t>& arguments) override {
        void* function = nullptr;
        want(cuda().get_function(&function, module_, name.c_str()), "cuModuleGetFunction");
        std::vector<std::uint64_t> values = arguments;
        std::size_t bytes = values.size() * sizeof(values[0]);
        // All parameters as one block; the odd pointers are the driver's names for what follows them.
        void* extra[] = {reinterpret_cast<void*>(1), values.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
        const machine::extent g = how.grid;
        const machine::extent b = how.block;
        if (how.cooperative) {
            std::vector<void*> places;
            for (std::uint64_t& v : values) {
                places.push_back(&v);
            }
            want(cuda().cooperative(function, g.x, g.y, g.z, b.x, b.y, b.z, how.dynamic_shared_bytes, nullptr,
                                    places.data()),
                 "cuLaunchCooperativeKernel");
        } else {
            want(cuda().launch(function, g.x, g.y, g.z, b.x, b.y, b.z, how.dynamic_shared_bytes, nullptr, nullptr,
                               extra),
                 "cuLaunchKernel");
        }
        want(cuda().synchronize(), "cuCtxSynchronize");
        return {};
    }

private:
    void* module_ = nullptr;
    std::vector<std::uint64_t> allocated_;
};

} // namespace

std::unique_ptr<device> make_hardware_device(const std::string& ptx) { return std::make_unique<hardware_device>(ptx); }

} // namespace softgpu::test
