// SPDX-License-Identifier: MIT
// A ladder without kernels: gives figures that a test can foresee, so that the command can be tested where the real one
// is not built. Step "12" and the CPU really reduce what they are given.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ladder/ladder.hpp"

namespace {

using namespace warpfold::ladder;

bool asked_for(const char* fault) {
    const char* value = std::getenv("FAKE_LADDER");
    return value != nullptr && std::string(value).find(fault) != std::string::npos;
}

template <class Element>
scalar reduce_elements(const reduce_request& q, scalar value) {
    const auto* data = static_cast<const Element*>(q.data);
    for (std::uint64_t i = 0; i < q.n; ++i) {
        if constexpr (std::is_floating_point_v<Element>) {
            const double x = static_cast<double>(data[i]);
            value.real = q.op == operation::sum       ? value.real + x
                         : q.op == operation::product ? value.real * x
                         : q.op == operation::minimum ? (i == 0 ? x : std::fmin(value.real, x))
                                                      : (i == 0 ? x : std::fmax(value.real, x));
        } else {
            const auto x = static_cast<std::uint64_t>(static_cast<std::int64_t>(data[i]));
            const auto sum = static_cast<std::uint64_t>(value.integer);
            const std::uint64_t next = q.op == operation::sum ? sum + x : q.op == operation::product ? sum * x : x;
            value.integer = static_cast<std::int64_t>(static_cast<Element>(next));
        }
    }
    return value;
}

scalar reduce_data(const reduce_request& q) {
    scalar value;
    value.type = q.type;
    value.integer = q.op == operation::product ? 1 : 0;
    value.real = static_cast<double>(value.integer);
    switch (q.type) {
    case element_type::int32: return reduce_elements<std::int32_t>(q, value);
    case element_type::int64: return reduce_elements<std::int64_t>(q, value);
    case element_type::float32: return reduce_elements<float>(q, value);
    case element_type::float64: return reduce_elements<double>(q, value);
    }
    return value;
}

class fake_ladder final : public ladder_library {
public:
    device_description device() const override {
        device_description d;
        d.name = "Fake card";
        d.compute_major = 9;
        d.multiprocessors = 132;
        d.memory_bytes = 80'000'000'000;
        d.l2_bytes = 50'000'000;
        return d;
    }

    std::vector<step_description> reduce_steps() const override {
        return {{"1", "interleaved addressing", "ladder/reduce/01.cu", "", "759", false},
                {"cub", "CUB's DeviceReduce", "ladder/reduce/cub.cu", "", "", true}};
    }

    reduce_report reduce(const reduce_request& q) override {
        if (q.block > 1024) {
            throw bad_request("a block of " + std::to_string(q.block) + " threads: the device takes 1024");
        }
        if (asked_for("cuda-error")) {
            throw std::runtime_error("cudaMalloc: out of\nmemory");
        }
        reduce_report r;
        r.device = device();
        r.device.software = q.count;
        r.request = q;
        if (q.time) {
            r.device.driver = "13.0";
            r.device.read_gb_per_s = 3000;
            r.device.copy_gb_per_s = 2900;
        }
        for (const char* id : {"1", "2", "12", "cub", "cpu"}) {
            bool wanted = q.steps.empty();
            for (const std::string& step : q.steps) {
                wanted = wanted || step == id;
            }
            if (wanted) {
                r.steps.push_back(step(q, id));
                if (q.progress) {
                    q.progress(id, r.steps.size(), 5);
                }
            }
        }
        if (r.steps.empty()) {
            throw bad_request("there is no step " + q.steps.front());
        }
        return r;
    }

private:
    static reduce_step step(const reduce_request& q, const std::string& id) {
        reduce_step s;
        s.id = id;
        s.title = "title of " + id + " that is long enough to be broken into lines where the table has many columns";
        s.source = "ladder/reduce/" + id + ".cu";
        s.idea = "the idea";
        s.lecture = "759";
        s.peer = id == "cub" || id == "cpu";
        s.on_device = id != "cpu";
        s.correct = true;
        s.result.type = s.expected.type = q.type;
        s.result.integer = s.expected.integer = 9'007'199'254'740'993; // more than a double holds
        s.result.real = s.expected.real = asked_for("infinite") ? HUGE_VAL : 0.5;
        if (q.data != nullptr || q.n == 0) {
            s.result = s.expected = reduce_data(q);
        }
        if (s.on_device) {
            s.launches.resize(2);
            for (auto& launch : s.launches) {
                launch.kernel = "reduce<int>";
                launch.symbol = "_Z6reduce";
                launch.grid = {10, 1, 1};
                launch.block = {q.block, 1, 1};
                launch.total.thread_instructions = q.n;
                launch.total.warp_instructions = q.n / 16;
                launch.total.shared_load_requests = 100;
                launch.total.shared_load_wavefronts = 150;
                launch.total.shared_store_requests = 100;
                launch.total.shared_store_wavefronts = 100;
                launch.total.global_load_requests = 1000;
                launch.total.global_load_sectors = 4000;
                launch.total.global_load_bytes = 64'000;
                launch.total.barriers = 10 * ((q.block + 31) / 32) * 3;
                launch.total.atomic_worst_multiplicity = 7;
            }
        }
        if (q.time) {
            // Step 1 takes 80 us, 2 40 us, 12 20 us, CUB 10 us.
            const double time = id == "1" ? 80e-6 : id == "2" ? 40e-6 : id == "12" ? 20e-6 : 10e-6;
            s.cold = timing{time, time * 0.9, time * 1.1, q.samples};
            s.warm = timing{time / 2, time / 2, time / 2, q.samples};
        }
        if (id == "1") {
            s.claims.push_back({"half of the threads are idle", "759, slide 'Idle Threads'", true, "128 of 256"});
            s.claims.push_back({"no bank conflicts", "759", false, "50 more wavefronts"});
            s.claims.push_back({"twice as fast", "759", std::nullopt, "no times here"});
        }
        if (id == "2") {
            s.caution = asked_for("cautious") ? "right only by luck" : "";
            s.correct = !asked_for("wrong");
            s.result.integer += s.correct ? 0 : 1;
            s.skipped = asked_for("skipped") ? "needs a larger block" : "";
        }
        if (id == "12" && asked_for("fault")) {
            s.correct = false;
            s.error = "illegal address";
        }
        return s;
    }

    std::vector<step_description> study_steps(const std::string& name) const override {
        return {{"a", "right", "ladder/" + name + "/a.cu", "the idea", "759, a slide"},
                {"b", "wrong", "ladder/" + name + "/b.cu", "the fault", "759, another slide"},
                {"cub", "the peer", "ladder/" + name + "/cub.cu", "", "", true}};
    }

    // On 1000 elements: "a" is right in 5 us, "b" wrong as it ought to be; FAKE_LADDER's "unlike" turns both round.
    study_report study(const study_request& q) override {
        study_report r{device(), q, "what is done", {}, {{"Then and now", {"then", "now"}, {{"1.5", "2.5"}}}}};
        r.device.software = !q.time;
        r.request.n = q.n == 0 ? 1000 : q.n;
        for (const auto& about : study_steps(q.name)) {
            if (!q.steps.empty() && std::find(q.steps.begin(), q.steps.end(), about.id) == q.steps.end()) {
                continue;
            }
            study_step s;
            static_cast<step_description&>(s) = about;
            s.n = r.request.n;
            s.ought = about.id == "b" ? fate::wrong : fate::right;
            s.lesson = about.id == "b" ? "nothing makes it right" : "";
            s.correct = (about.id == "b") == asked_for("unlike");
            s.difference = s.correct ? "" : "3 of 1000 values are wrong";
            s.least_bytes = 8 * s.n;
            s.launches.emplace_back();
            s.launches.back().kernel = "kernel_" + about.id;
            s.launches.back().total.thread_instructions = q.count ? 7 * s.n : 0;
            if (q.time) {
                s.cold = s.warm = timing{5e-6, 4e-6, 6e-6, q.samples};
            }
            if (about.id == "a") {
                s.claims.push_back({"as many as elements", "759, a slide", true, "1000"});
                s.claims.push_back({"more than before", "759, a slide", false, "fewer"});
            }
            if (q.check) {
                s.claims.push_back({"nothing is found", "the checks", true, "no finding"});
            }
            r.steps.push_back(std::move(s));
        }
        return r;
    }

    std::span<const source_file> sources() const override {
        static constexpr source_file all[] = {
            {"ladder/scan/a.cu",
             "// About step a.\n\n__global__ void kernel_a(int* out) {\n    out[threadIdx.x] = 1;\n}\n"}};
        return all;
    }
};

} // namespace

extern "C" __attribute__((visibility("default"))) ladder_library* warpfold_ladder() {
    static fake_ladder ladder;
    return &ladder;
}
