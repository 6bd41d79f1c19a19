// SPDX-License-Identifier: MIT
// Logs of operations as a program with streams makes them, without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "softgpu/observe/timeline.hpp"

namespace softgpu::observe::testing {

// A copy of one byte, a kernel of one warp instruction and a host function take a second each; calls take no time.
inline timeline_machine slow_machine() {
    timeline_machine m;
    m.name = "a slow one";
    m.call_seconds = m.copy_latency = m.kernel_latency = 0;
    m.pinned_bytes_per_s = m.warp_instructions_per_s = m.memory_bytes_per_s = m.host_function_seconds = 1;
    m.pageable_bytes_per_s = 0.5;
    return m;
}

// Issues operations by the rules of streams; stream 0 is the legacy default stream, which waits for all others and they
// for it, but for those that do not block.
class program {
public:
    std::size_t copy_in(int stream, std::uint64_t bytes = 1) { return add(stream, engine::to_device, "in", bytes); }
    std::size_t copy_out(int stream, std::uint64_t bytes = 1) { return add(stream, engine::to_host, "out", bytes); }
    std::size_t kernel(int stream, std::uint64_t instructions = 1) {
        const std::size_t k = add(stream, engine::compute, "kernel", 0);
        log.operations[k].warp_instructions = instructions;
        log.operations[k].blocks = 1;
        return k;
    }
    std::size_t host_function(int stream) { return add(stream, engine::host, "host function", 0); }
    std::size_t record(int stream) { return add(stream, engine::none, "", 0); } // an event
    void wait_event(int stream, std::size_t event) { add(stream, engine::none, "", 0, {event}); }
    void synchronize(std::size_t operation) { log.host.push_back({host_step::kind::waits, thread, operation}); }
    void synchronize() { log.host.push_back({host_step::kind::waits_for_all, thread, log.operations.size()}); }
    void non_blocking(int stream) { blocking_[stream] = false; }

    operation_log log;
    std::uint32_t thread = 0;

private:
    std::size_t add(int stream, engine on, const char* name, std::uint64_t bytes, std::vector<std::size_t> after = {}) {
        const auto last_of = [&](int other) {
            if (const auto at = last_.find(other); at != last_.end()) {
                after.push_back(at->second);
            }
        };
        last_of(stream);
        for (const auto& [other, operation] : last_) {
            if ((stream == 0 || other == 0) && stream != other && blocks(stream) && blocks(other)) {
                after.push_back(operation);
            }
        }
        const std::size_t place = log.operations.size();
        operation_record& o = log.operations.emplace_back();
        o.on = on;
        o.name = name;
        o.stream = "stream " + std::to_string(stream);
        o.bytes = bytes;
        o.after = std::move(after);
        log.host.push_back({host_step::kind::issues, thread, place});
        last_[stream] = place;
        return place;
    }
    [[nodiscard]] bool blocks(int stream) const {
        const auto at = blocking_.find(stream);
        return at == blocking_.end() || at->second;
    }

    std::map<int, std::size_t> last_;
    std::map<int, bool> blocking_;
};

} // namespace softgpu::observe::testing
