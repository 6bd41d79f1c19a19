// SPDX-License-Identifier: MIT
// A kernel that the host launches, and all that is launched within it: by it, by its children, and so on. The operation of the
// host's launch is over when all of them are.
//
// What a grid launches waits until that grid has run; then one grid runs after the other, the deepest first, in the order of
// the launching blocks. CUDA promises no more: a parent must not wait for its children. The adversarial schedule draws the
// order from the seed, and also runs children in the middle of their parent.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "softgpu/check/order/launch_point.hpp"
#include "softgpu/machine/device_runtime.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/operation.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/memory/copies/fills.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {

inline constexpr unsigned deepest_grid = 24; // the host's launches are at depth 0

using nested_work = std::variant<kernel_work, copy_work, fill_work>;

// A kernel asks for space for a child's parameters, fills it, and launches.
struct parameter_buffer {
    std::optional<kernel_work> work; // with the kernel and the launch's shape; nothing: the launch gives them
    std::uint64_t bytes = 0;
};

enum class device_stream : std::uint8_t { of_block, of_thread, named, fire_and_forget, tail };
struct stream_key {
    device_stream kind = device_stream::of_block;
    std::uint64_t number = 0;                            // of the block, of the thread in the launch, or the handle
    auto operator<=>(const stream_key&) const = default; // NOLINT(modernize-use-nullptr): no null here
};

struct nested_grid {
    nested_grid* parent = nullptr; // nullptr: the host has launched it
    unsigned depth = 0;
    nested_work work;
    std::uint64_t block = 0;    // of the parent that launched it
    std::uint64_t sequence = 0; // of the launch, in the whole tree
    bool is_tail = false;
    std::shared_ptr<const check::launch_point> launched_at;
    operation_pointer operation; // while it runs and afterwards

    // What follows is guarded by nested_grids::mutex().
    std::vector<nested_grid*> after; // siblings that come first
    std::vector<nested_grid*> next;  // siblings that wait for it
    unsigned waits = 0;              // siblings that are not over
    unsigned open = 1;               // itself, and its children that are not over
    bool is_over = false;
    std::deque<nested_grid*> tails; // tail launches that have not begun
    // The objects that its threads have made, and what each stream's next work waits for.
    std::map<stream_key, std::vector<nested_grid*>> streams;
    std::set<std::uint64_t> named_streams;
    std::map<std::uint64_t, std::vector<nested_grid*>> events;
    std::map<std::pair<std::uint64_t, std::uint32_t>, error> last_errors; // by block and thread
    std::map<memory::address, parameter_buffer> buffers;
};

class nested_grids {
public:
    // Runs the kernel of a grid, and gives it the device runtime. amid_parent: this thread runs the parent, which has called.
    using kernel_runner = void (*)(nested_grids& all, nested_grid& g, std::uint64_t launch, bool amid_parent);

    nested_grids(context& gpu, const kernel_work& root, std::uint64_t launch, kernel_runner run_kernel);
    ~nested_grids();
    nested_grids(const nested_grids&) = delete;
    nested_grids& operator=(const nested_grids&) = delete;

    // Runs the kernel and all that is launched within it. On the thread that runs the host's operation.
    void run();

    [[nodiscard]] context& gpu() noexcept { return gpu_; }
    [[nodiscard]] const kernel_work& root() const noexcept { return root_; }

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    // The functions below require the mutex to be held.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++numbers_; }
    // Launches, and buffers for launches, that have not begun. Throws launch_pending_count_exceeded if there are as many as
    // cudaLimitDevRuntimePendingLaunchCount says.
    void require_room();
    void add(nested_grid& parent, stream_key on, std::uint64_t block, nested_work work,
             std::shared_ptr<const check::launch_point> launched_at);
    // In the adversarial schedule: maybe runs something that is ready, before the caller goes on. Requires the mutex not to be
    // held.
    void run_some_now();

private:
    nested_grid* take_ready();
    void run(nested_grid& g, bool amid_parent);
    // One of the things that keep it open is over. Requires the mutex to be held.
    void settle(nested_grid& g);

    context& gpu_;
    const kernel_work& root_;
    const std::uint64_t launch_;
    const kernel_runner run_kernel_;
    std::mutex mutex_;
    std::deque<nested_grid> grids_; // the root first
    std::vector<nested_grid*> ready_;
    std::uint64_t numbers_ = 0;
    std::uint64_t pending_ = 0;
    unsigned amid_ = 0;                     // grids that run in the middle of another one
    std::optional<std::mt19937_64> random_; // the adversarial schedule's
};

} // namespace softgpu::runtime
