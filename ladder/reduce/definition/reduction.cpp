// SPDX-License-Identifier: MIT
// Data, rounds and judgement of a reduction, as the engine calls them.
#include "ladder/reduce/definition/reduction.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/reduce/definition/data.hpp"
#include "measure/check.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::reduce {

namespace {

std::size_t type_index(const engine::stage& on) { return static_cast<std::size_t>(on.parameters.type); }
std::size_t operation_index(const engine::stage& on) { return static_cast<std::size_t>(on.parameters.op); }
std::size_t element_bytes(const engine::stage& on) { return bytes_of(on.parameters.type); }

shape shape_of(const engine::stage& on) { return {on.parameters.block, on.multiprocessors, on.resident_blocks}; }

std::uint64_t blocks_of(const reduction& r, const shape& device, std::uint64_t n, unsigned round) {
    return std::max<std::uint64_t>(r.blocks(device, n, round), 1);
}

// One round over `n` elements, which leaves `values`.
struct round_size {
    std::uint64_t n = 0;
    std::uint64_t blocks = 1;
    std::uint64_t values = 1;
};

// The rounds on the device; what they leave, the host finishes. Without elements there is none.
std::vector<round_size> plan_rounds(const reduction& r, const engine::stage& on) {
    std::vector<round_size> rounds;
    std::uint64_t left = on.n;
    while (left != 0 && (rounds.empty() || (left > 1 && on.parameters.finish_on == finish::device))) {
        const std::uint64_t blocks = blocks_of(r, shape_of(on), left, static_cast<unsigned>(rounds.size()));
        rounds.push_back({left, blocks, r.one_launch ? 1 : blocks});
        left = rounds.back().values;
    }
    return rounds;
}

// Device memory of a reduction: the kernels' workspace, and two arrays that the rounds write in turn.
struct rounds_memory {
    measure::device_memory workspace;
    measure::device_memory values[2];
    std::uint64_t host_value = 0; // 8 bytes for a value of any type
};

std::shared_ptr<void> take_memory(const reduction& r, const engine::stage& on) {
    auto all = std::make_shared<rounds_memory>();
    if (on.n == 0) {
        return all;
    }
    if (const workspace_function needed = r.workspace[type_index(on)][operation_index(on)]; needed != nullptr) {
        all->workspace = measure::device_memory(std::max<std::size_t>(needed(shape_of(on), on.n), 1));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(all->workspace.data(), 0, all->workspace.bytes(), on.stream));
    }
    const auto rounds = plan_rounds(r, on);
    for (std::size_t k = 0; k < std::min<std::size_t>(rounds.size(), 2); ++k) {
        all->values[k] = measure::device_memory(rounds[k].values * element_bytes(on));
    }
    return all;
}

void run_rounds(const reduction& r, const engine::stage& on) {
    auto& memory = *static_cast<rounds_memory*>(on.kept);
    launch_context context{on, shape_of(on), 1, memory.workspace.data(), memory.workspace.bytes()};
    const void* in = on.n == 0 ? nullptr : on.in.at(0);
    unsigned k = 0;
    for (const round_size& round : plan_rounds(r, on)) {
        context.blocks = round.blocks;
        void* const out = r.delivers_on_host ? &memory.host_value : memory.values[k % 2].data();
        r.rounds[type_index(on)][operation_index(on)](context, in, round.n, out);
        in = out;
        ++k;
    }
}

// The values of the last round.
engine::bytes collect_values(const reduction& r, const engine::stage& on) {
    const auto rounds = plan_rounds(r, on);
    if (rounds.empty()) {
        return {};
    }
    const auto& memory = *static_cast<const rounds_memory*>(on.kept);
    engine::bytes values(rounds.back().values * element_bytes(on));
    if (r.delivers_on_host) {
        std::memcpy(values.data(), &memory.host_value, values.size());
    } else {
        WARPFOLD_CUDA_CHECK(cudaMemcpy(values.data(), memory.values[(rounds.size() - 1) % 2].data(), values.size(),
                                       cudaMemcpyDeviceToHost));
    }
    return values;
}

engine::bytes one_round_on_host(const reduction& r, const engine::stage& on) {
    engine::bytes value(on.n == 0 ? 0 : element_bytes(on));
    if (on.n != 0) {
        r.rounds[type_index(on)][operation_index(on)]({on, shape_of(on)}, on.data->in.at(0).data(), on.n, value.data());
    }
    return value;
}

// As many digits as tell the value from every other of its type.
std::string text_of(const scalar& value) {
    char text[64];
    char* const end = text + sizeof text;
    switch (value.type) {
    case element_type::float32: return {text, std::to_chars(text, end, static_cast<float>(value.real)).ptr};
    case element_type::float64: return {text, std::to_chars(text, end, value.real).ptr};
    default: return std::to_string(value.integer);
    }
}

std::string rounded(double value) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 3).ptr};
}

// Finishes on the host what the rounds left, and compares it with the reference.
engine::judgement judge(const reduction& r, const engine::stage& on, const engine::bytes& result) {
    const auto& right = *static_cast<const reference*>(on.data->reference.get());
    const std::uint64_t count = result.size() / element_bytes(on);
    std::uint64_t height = count > 1 ? 2 + count / 1024 : 0; // of fold_on_host, in long double
    unsigned k = 0;
    for (const round_size& round : plan_rounds(r, on)) {
        height += r.height(shape_of(on), round.n, k++);
    }
    single_value value;
    value.result = fold_on_host(on.parameters.type, on.parameters.op, result.data(), count);
    value.expected = right.expected;
    value.tolerance = tolerance_of(right, height, r.accumulates_in_double);
    const bool correct = agrees(right, value.result, value.tolerance);
    std::string difference;
    if (!correct) {
        difference = "gave " + text_of(value.result) + " where " + text_of(value.expected) + " is right";
        difference += value.tolerance > 0 ? " (± " + rounded(value.tolerance) + ")" : "";
    }
    return {correct, difference, value};
}

// Why the rounds cannot come to an end; empty: they do.
std::string cannot_run(const reduction& r, const engine::stage& on) {
    if (on.n == 0) {
        return {};
    }
    const std::uint64_t blocks = blocks_of(r, shape_of(on), on.n, 0);
    if (blocks > most_blocks) {
        return "needs " + std::to_string(blocks) + " blocks, and a grid takes 2147483647";
    }
    if (!r.one_launch && on.parameters.finish_on == finish::device && on.n > 1 && blocks >= on.n) {
        return "blocks of one thread leave as many values as they take";
    }
    return {};
}

engine::sample data_of(const engine::problem& p) {
    const std::size_t bytes = p.n * bytes_of(p.parameters.type);
    engine::sample all;
    all.n = p.n;
    all.in.emplace_back(bytes);
    std::byte* const data = all.in.front().data();
    if (p.given == nullptr) {
        fill_data(data, p.parameters.type, p.parameters.op, p.n, p.seed);
    } else if (bytes != 0) {
        std::memcpy(data, p.given, bytes);
    }
    auto right = std::make_shared<reference>(reference_of(p.parameters.type, p.parameters.op, data, p.n));
    right->exact = right->exact || (p.given == nullptr && sums_exactly(p.parameters.type, p.parameters.op, p.n));
    all.reference = std::move(right);
    return all;
}

} // namespace

engine::step_definition as_step(reduction from) {
    const auto r = std::make_shared<const reduction>(std::move(from));
    engine::step_definition step;
    step.about = r->about;
    step.data = data_of;
    step.claims = r->claims;
    step.judge = [r](const engine::stage& on, const engine::bytes& result) { return judge(*r, on, result); };
    if (!r->luck.empty()) {
        step.expected = outcome::by_luck;
        step.lesson = r->luck;
        step.finds = "race in shared memory";
    }
    if (r->on_device) {
        step.cannot_run = [r](const engine::stage& on) { return cannot_run(*r, on); };
        step.prepare = [r](const engine::stage& on) { return take_memory(*r, on); };
        step.run = [r](const engine::stage& on) { run_rounds(*r, on); };
        step.collect = [r](const engine::stage& on) { return collect_values(*r, on); };
    } else {
        step.on_host = [r](const engine::stage& on) { return one_round_on_host(*r, on); };
        step.evicts_host_caches = true;
    }
    return step;
}

engine::counterexample mutant_of(std::string what, reduction from) {
    return engine::mutant(std::move(what), [r = std::make_shared<const reduction>(std::move(from))](
                                               const engine::stage& on) { run_rounds(*r, on); });
}

} // namespace warpfold::ladder::reduce
