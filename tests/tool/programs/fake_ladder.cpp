// SPDX-License-Identifier: MIT
// A ladder engine without kernels: its figures are known to the tests, so that the command can be tested where the ladders
// are not built. "reduce" is a ladder with parameters, whose steps solve one problem; all others are alike.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ladder/engine/definition/catalogue.hpp"
#include "ladder/engine/engine.hpp"

namespace {

using namespace warpfold::ladder;

bool asked_for(const char* fault) {
    const char* value = std::getenv("FAKE_LADDER");
    return value != nullptr && std::string(value).find(fault) != std::string::npos;
}

bool wanted(const ladder_request& q, const std::string& id) {
    return q.steps.empty() || std::find(q.steps.begin(), q.steps.end(), id) != q.steps.end();
}

class fake_engine final : public ladder_engine {
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

    std::vector<std::string> ladders() const override {
        std::vector<std::string> names;
        names.reserve(catalogue.size());
        for (const catalogue_entry& entry : catalogue) {
            names.emplace_back(entry.name);
        }
        return names;
    }

    std::vector<step_description> steps(const std::string& name) const override {
        if (name == "reduce") {
            return {{"1", "interleaved addressing", "ladder/reduce/01.cu", "", "759", false},
                    {"cub", "CUB's DeviceReduce", "ladder/reduce/cub.cu", "", "", true}};
        }
        return {{"a", "right", "ladder/" + name + "/a.cu", "the idea", "759, a slide"},
                {"b", "wrong", "ladder/" + name + "/b.cu", "the fault", "759, another slide"},
                {"cub", "the peer", "ladder/" + name + "/cub.cu", "", "", true}};
    }

    ladder_report run(const ladder_request& q) override {
        ladder_report r;
        r.device = device();
        r.device.software = !q.time;
        r.request = q;
        q.name == "reduce" ? reduce(q, r) : other(q, r);
        return r;
    }

    std::span<const source_file> sources() const override {
        static constexpr source_file all[] = {
            {"ladder/scan/a.cu",
             "// About step a.\n\n__global__ void kernel_a(int* out) {\n    out[threadIdx.x] = 1;\n}\n"}};
        return all;
    }

private:
    static void reduce(const ladder_request& q, ladder_report& r) {
        if (q.parameters.block > 1024) {
            throw bad_request("a block of " + std::to_string(q.parameters.block) + " threads: the device takes 1024");
        }
        if (asked_for("cuda-error")) {
            throw std::runtime_error("cudaMalloc: out of\nmemory");
        }
        r.n = q.n.value_or(1u << 22);
        r.data = "the sum of int32";
        r.takes = {.block = true, .type = true, .op = true, .finish = true};
        r.one_problem = true;
        if (q.time) {
            r.device.driver = "13.0";
            r.device.read_gb_per_s = 3000;
            r.device.copy_gb_per_s = 2900;
        }
        for (const char* id : {"1", "2", "12", "cub", "cpu"}) {
            if (wanted(q, id)) {
                r.steps.push_back(reduction(q, r.n, id));
                if (q.progress) {
                    q.progress(id, r.steps.size(), 5);
                }
            }
        }
        if (r.steps.empty()) {
            throw bad_request("there is no step " + q.steps.front());
        }
    }

    static step_result reduction(const ladder_request& q, std::uint64_t n, const std::string& id) {
        step_result s;
        s.id = id;
        s.title = "title of " + id + " that is long enough to be broken into lines where the table has many columns";
        s.source = "ladder/reduce/" + id + ".cu";
        s.idea = "the idea";
        s.lecture = "759";
        s.peer = id == "cub" || id == "cpu";
        s.on_device = id != "cpu";
        s.n = n;
        s.correct = true;
        single_value value;
        value.result.type = value.expected.type = q.parameters.type;
        value.result.integer = value.expected.integer = 9'007'199'254'740'993; // more than a double holds
        value.result.real = value.expected.real = asked_for("infinite") ? HUGE_VAL : 0.5;
        s.least_bytes = n * bytes_of(q.parameters.type);
        if (s.on_device) {
            s.launches.resize(2);
            for (auto& launch : s.launches) {
                launch.kernel = "reduce<int>";
                launch.symbol = "_Z6reduce";
                launch.grid = {10, 1, 1};
                launch.block = {q.parameters.block, 1, 1};
                launch.total.thread_instructions = n;
                launch.total.warp_instructions = n / 16;
                launch.total.shared_load_requests = 100;
                launch.total.shared_load_wavefronts = 150;
                launch.total.shared_store_requests = 100;
                launch.total.shared_store_wavefronts = 100;
                launch.total.global_load_requests = 1000;
                launch.total.global_load_sectors = 4000;
                launch.total.global_load_bytes = 64'000;
                launch.total.barriers = 10 * ((q.parameters.block + 31) / 32) * 3;
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
            s.claims.push_back({"half of the threads are idle", "759, slide 'Idle Threads'", true, "128 of 256", "",
                                "step 2 in its place"});
            s.claims.push_back({"no bank conflicts", "759", false, "50 more wavefronts", "", "step 3 in its place"});
            s.claims.push_back({"twice as fast", "759", std::nullopt, "no times here", "", "twice the time of step 1"});
        }
        if (id == "2") {
            s.lesson = asked_for("cautious") ? "right only by luck" : "";
            s.expected = s.lesson.empty() ? outcome::right : outcome::by_luck;
            s.correct = !asked_for("wrong");
            value.result.integer += s.correct ? 0 : 1;
            s.difference = s.correct ? "" : "gave 9007199254740994 where 9007199254740993 is right";
            s.skipped = asked_for("skipped") ? "needs a larger block" : "";
        }
        s.value = value;
        if (id == "12" && asked_for("fault")) {
            s.correct = false;
            s.error = "illegal address";
        }
        return s;
    }

    // On 1000 elements: "a" is right in 5 us, "b" wrong as expected; FAKE_LADDER's "unlike" turns both round.
    void other(const ladder_request& q, ladder_report& r) const {
        r.n = q.n.value_or(1000);
        r.data = "what is done";
        r.tables = {{"Then and now", {"then", "now"}, {{"1.5", "2.5"}}}};
        for (const auto& about : steps(q.name)) {
            if (!wanted(q, about.id)) {
                continue;
            }
            step_result s;
            static_cast<step_description&>(s) = about;
            s.n = r.n;
            s.expected = about.id == "b" ? outcome::wrong : outcome::right;
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
                s.claims.push_back({"as many as elements", "759, a slide", true, "1000", "", "step b in its place"});
                s.claims.push_back({"more than before", "759, a slide", false, "fewer", "only for n > 5", "n = 5"});
                s.claims.push_back({"worth knowing", "759, a slide", std::nullopt, "12 of 13"});
                if (q.counterexamples) { // the second check cannot fail
                    s.claims[0].refutation = {false, "999"};
                    s.claims[1].refutation = {true, "fewer again"};
                }
            }
            if (q.check) {
                s.claims.push_back({"nothing is found", "the checks", true, "no finding", "", "planted faults"});
            }
            r.steps.push_back(std::move(s));
        }
    }
};

} // namespace

extern "C" __attribute__((visibility("default"))) ladder_engine* warpfold_ladder_engine() {
    static fake_engine engine;
    return &engine;
}
