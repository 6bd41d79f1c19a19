// SPDX-License-Identifier: MIT
// The record of all operations in the order of issue and of what the program's threads wait for. Timelines are modelled
// from it (softgpu/observe/timeline.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline_model.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/settings.hpp"

namespace softgpu::runtime {

// What an operation is, for a journal. Operations without a description are marks.
struct operation_description {
    observe::engine on = observe::engine::none;
    std::string name;
    std::uint64_t bytes = 0;
    bool pageable = false;
    bool staged = false;
    std::uint64_t launch = 0; // a kernel's number in the order of launches
};

// Adds to the log for as long as it lives.
class operation_journal final : public operation_observer {
public:
    explicit operation_journal(observe::operation_log& to);
    ~operation_journal() override;
    operation_journal(const operation_journal&) = delete;
    operation_journal& operator=(const operation_journal&) = delete;

    void issued(operation& what, std::span<const operation_pointer> after) override;
    void finished(const operation& /*what*/) override {}
    void host_waited(const operation& what) override;
    void host_waited_for_all(std::optional<int> of) override;

    // Whether any journal is kept; takes no lock.
    [[nodiscard]] static bool any() noexcept;
    // Adds the description to all journals. This thread has just issued the operation.
    static void describe(const operation& what, const operation_description& as);
    // A launch is finished: adds its cost to all journals.
    static void launched(std::uint64_t launch, const observe::launch_record& record);

    // The log as it is now, with the costs of finished kernels.
    [[nodiscard]] observe::operation_log so_far();
    // The cards that are predicted, with the seconds of these operations.
    [[nodiscard]] std::vector<observe::predicted_machine> predicted();
    // Adds these costs to the log itself.
    void complete();

private:
    struct cost {
        std::uint64_t blocks = 0, warp_instructions = 0, memory_bytes = 0;
        std::vector<double> predicted_seconds; // by card
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
    std::unordered_map<std::uint64_t, cost> costs_;  // by launch
    std::map<std::uint64_t, std::uint32_t> threads_; // by host_thread::number()
    std::map<std::uint64_t, std::string> streams_;
};

// The file that SOFTGPU_TIMELINE names.
namespace timeline_file {

// Keeps a journal of the whole program if the environment names a file.
void begin(const settings& options);
// Throws std::runtime_error.
void write(const settings& options, bool finished);

} // namespace timeline_file

// Ends the recording under way, whose log is complete then. Unless `to` is nullptr, records operations into it from now on.
void record_operations(observe::operation_log* to);
// Of the recording that was completed last.
[[nodiscard]] std::vector<observe::predicted_machine> predicted_operations();

} // namespace softgpu::runtime
