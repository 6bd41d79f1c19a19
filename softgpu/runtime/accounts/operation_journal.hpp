// SPDX-License-Identifier: MIT
// The account of all operations that the program asks for, in order, with what its threads wait for: what timelines are made
// of (softgpu/observe/timeline.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline.hpp"
#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime {

struct settings;

// What an operation is, for whoever keeps an account. Operations that nobody describes are marks.
struct operation_description {
    observe::engine on = observe::engine::none;
    std::string name;
    std::uint64_t bytes = 0;
    bool pageable = false;
    bool staged = false;
    std::uint64_t launch = 0; // of a kernel: its place in the order of launches
};

// Adds to the log for as long as it lives.
class operation_journal final : public order_watcher {
public:
    explicit operation_journal(observe::operation_log& to);
    ~operation_journal() override;
    operation_journal(const operation_journal&) = delete;
    operation_journal& operator=(const operation_journal&) = delete;

    void issued(operation& what, std::span<const operation_pointer> after) override;
    void finished(const operation& /*what*/) override {}
    void host_waited(const operation& what) override;
    void host_waited_for_all() override;

    // Whether there is any; cheap.
    [[nodiscard]] static bool kept() noexcept;
    // To all journals, where any is kept. The operation was issued by this thread just now.
    static void describe(const operation& what, const operation_description& as);
    // A launch is over.
    static void account(std::uint64_t launch, const observe::launch_record& record);

    // The log as it is now, with what kernels have cost that are over.
    [[nodiscard]] observe::operation_log so_far();
    // Puts that into the log itself.
    void complete();

private:
    struct cost {
        std::uint64_t blocks = 0, warp_instructions = 0, memory_bytes = 0;
    };

    struct place_and_stream {
        std::size_t place = 0;
        std::uint64_t stream = 0;
    };

    [[nodiscard]] std::uint32_t this_thread();
    [[nodiscard]] std::string name_of_stream(std::uint64_t id);
    void add_costs(observe::operation_log& to) const;

    observe::operation_log& log_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, place_and_stream> places_; // of operations by id
    std::unordered_map<std::uint64_t, std::size_t> of_launches_;
    std::unordered_map<std::uint64_t, cost> costs_; // by launch
    std::map<std::thread::id, std::uint32_t> threads_;
    std::map<std::uint64_t, std::string> streams_;
};

namespace operation_journals {

// Where the environment asks for a timeline of the whole program.
void begin(const settings& options);
// Writes it. Throws std::runtime_error.
void write(const settings& options, bool finished);

} // namespace operation_journals

} // namespace softgpu::runtime
