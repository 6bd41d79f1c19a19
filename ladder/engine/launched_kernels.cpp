// SPDX-License-Identifier: MIT
// ladder/CMakeLists.txt links the engine and the ladders with --wrap for the three calls below: every launch of theirs comes
// here, those of templates and of CUB too. nvcc's stubs launch by a handle, which they get once for each kernel.
#include "ladder/engine/launched_kernels.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "measure/check.hpp"

extern "C" {
// Weak: the runtime of CUDA 12.4 lacks some of them.
cudaError_t __real_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream);
[[gnu::weak]] cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                                    std::size_t shared, cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream);
[[gnu::weak]] cudaError_t __real___cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* function);
}

namespace warpfold::ladder::engine {

namespace {

struct notes {
    std::mutex mutex;
    int watchers = 0;
    std::map<cudaKernel_t, const void*> functions;
    std::set<std::tuple<const void*, unsigned, std::size_t>> launches;

    static notes& all() {
        static notes the_notes;
        return the_notes;
    }

    void note(const void* function, dim3 block, std::size_t shared) {
        const std::lock_guard lock(mutex);
        if (watchers != 0 && function != nullptr) {
            launches.emplace(function, block.x * block.y * block.z, shared);
        }
    }
};

// "reduce::first_add<int>", from "void warpfold::ladder::reduce::(anonymous namespace)::first_add<int>(int const*, ...)".
std::string short_name(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> whole(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                            &std::free);
    std::string name = status == 0 && whole ? whole.get() : symbol;
    const auto erase_all = [&](const std::string& part) {
        for (auto at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
            name.erase(at, part.size());
        }
    };
    erase_all("(anonymous namespace)::");
    // The parameters: the last bracket that is open outside of all template arguments.
    int depth = 0;
    std::size_t end = name.size();
    for (std::size_t k = 0; k < name.size(); ++k) {
        depth += name[k] == '<' ? 1 : name[k] == '>' ? -1 : 0;
        if (name[k] == '(' && depth == 0) {
            end = k;
            break;
        }
    }
    name.resize(end);
    if (name.rfind("void ", 0) == 0) {
        name.erase(0, 5);
    }
    erase_all("warpfold::ladder::");
    constexpr std::size_t most = 56;
    return name.size() <= most ? name : name.substr(0, name.find('<')) + "<…>";
}

} // namespace

kernel_watch::kernel_watch() {
    const std::lock_guard lock(notes::all().mutex);
    ++notes::all().watchers;
}

kernel_watch::~kernel_watch() {
    const std::lock_guard lock(notes::all().mutex);
    --notes::all().watchers;
}

std::vector<launched_kernel> kernel_watch::ours() const {
    std::vector<launched_kernel> kernels;
    const std::lock_guard lock(notes::all().mutex);
    for (const auto& [function, threads, shared] : notes::all().launches) {
        const char* symbol = nullptr;
        WARPFOLD_CUDA_CHECK(cudaFuncGetName(&symbol, function));
        if (std::string(symbol).find("8warpfold") != std::string::npos &&
            std::string(symbol).find("3cub") == std::string::npos) {
            kernels.push_back({function, short_name(symbol), threads, shared});
        }
    }
    std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
        return std::tie(a.name, a.threads, a.dynamic_shared) < std::tie(b.name, b.threads, b.dynamic_shared);
    });
    return kernels;
}

} // namespace warpfold::ladder::engine

using warpfold::ladder::engine::notes;

cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
    notes::all().note(function, block, shared);
    return __real_cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
    const void* function = nullptr;
    {
        const std::lock_guard lock(notes::all().mutex);
        const auto at = notes::all().functions.find(kernel);
        function = at == notes::all().functions.end() ? nullptr : at->second;
    }
    notes::all().note(function, block, shared);
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    const cudaError_t answer = __real___cudaGetKernel(kernel, function);
    if (answer == cudaSuccess) {
        const std::lock_guard lock(notes::all().mutex);
        notes::all().functions[*kernel] = function;
    }
    return answer;
}
