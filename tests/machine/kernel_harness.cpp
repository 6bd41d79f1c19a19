// SPDX-License-Identifier: MIT
#include "tests/machine/kernel_harness.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace softgpu::test {

namespace {

constexpr std::size_t kernel_parameters = 8;

class software_device final : public device {
public:
    explicit software_device(const std::string& ptx) : memory_(1ull << 30), module_(ptx, memory_) {}

    std::uint64_t allocate(std::uint64_t bytes) override {
        return memory_.allocate(bytes, memory::allocation_kind::device);
    }
    void release(std::uint64_t at) override { memory_.release(at); }
    void write(std::uint64_t at, const void* from, std::uint64_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(at), from, bytes);
    }
    void read(void* to, std::uint64_t at, std::uint64_t bytes) override {
        std::memcpy(to, reinterpret_cast<const void*>(at), bytes);
    }
    std::uint64_t variable(const std::string& name) override { return module_.find_variable(name).address; }
    machine::launch_result launch(const std::string& name, const launch_options& how,
                                  const std::vector<std::uint64_t>& arguments) override {
        const machine::kernel* const k = module_.find_kernel(name);
        if (k == nullptr) {
            machine::launch_result none;
            none.error = {machine::fault_kind::invalid_ptx, "no kernel " + name};
            return none;
        }
        machine::launch_request request;
        request.grid = how.grid;
        request.block = how.block;
        request.dynamic_shared_bytes = how.dynamic_shared_bytes;
        request.parameters = reinterpret_cast<const std::byte*>(arguments.data());
        request.count = how.count;
        request.cooperative = how.cooperative;
        request.workers = how.workers;
        request.resident_blocks = how.resident_blocks;
        request.seed = how.seed;
        request.deadlock_seconds = how.deadlock_seconds;
        request.outside = how.outside;
        return machine::launch(module_, *k, request);
    }

private:
    memory::device_memory memory_;
    machine::module module_;
};

std::string bytes_type(const std::string& type) { return type == "pred" ? "u32" : "b" + type.substr(1); }

const char* const input_names[] = {"%a", "%b", "%c", "%e"};
const char* const output_names[] = {"%d", "%f", "%g", "%k"};

// `guard` is put before each instruction of the operation.
std::string elementwise(const operation& what, const std::string& guard) {
    std::ostringstream body;
    for (std::size_t k = 0; k < what.in.size(); ++k) {
        body << ".reg ." << what.in[k] << ' ' << input_names[k] << ";\n";
    }
    for (std::size_t k = 0; k < what.out.size(); ++k) {
        body << ".reg ." << what.out[k] << ' ' << output_names[k] << ";\n";
    }
    body << ".reg .pred %odd; .reg .b64 %own;\n"
         << "and.b32 %r0, %i, 1; setp.ne.u32 %odd, %r0, 0;\n"
         << "cvt.u32.u64 %r1, %p2; setp.ge.u32 %q0, %i, %r1; @%q0 exit;\n"
         << "mul.wide.u32 %rd0, %i, " << 8 * what.in.size() << "; add.u64 %rd0, %rd0, %p0;\n"
         << "mul.wide.u32 %rd1, %i, " << 8 * what.out.size() << "; add.u64 %rd1, %rd1, %p1;\n"
         << "mul.wide.u32 %own, %i, 32; add.u64 %own, %own, %p3;\n";
    const auto load = [&](const std::string& name, const std::string& type, const std::string& from) {
        if (type == "pred") {
            body << "ld.global.u32 %r2, [" << from << "]; setp.ne.u32 " << name << ", %r2, 0;\n";
        } else {
            body << "ld.global." << bytes_type(type) << ' ' << name << ", [" << from << "];\n";
        }
    };
    for (std::size_t k = 0; k < what.in.size(); ++k) {
        load(input_names[k], what.in[k], "%rd0+" + std::to_string(8 * k));
    }
    for (std::size_t k = 0; k < what.out.size(); ++k) {
        load(output_names[k], what.out[k], "%rd1+" + std::to_string(8 * k));
    }
    body << what.before << '\n';
    std::istringstream instructions(what.text);
    for (std::string one; std::getline(instructions, one, ';');) {
        if (one.find_first_not_of(" \n") != std::string::npos) {
            body << guard << one << ";\n";
        }
    }
    for (std::size_t k = 0; k < what.out.size(); ++k) {
        const std::string to = "[%rd1+" + std::to_string(8 * k) + "]";
        if (what.out[k] == "pred") {
            body << "selp.u32 %r2, 1, 0, " << output_names[k] << "; st.global.u32 " << to << ", %r2;\n";
        } else {
            body << "st.global." << bytes_type(what.out[k]) << ' ' << to << ", " << output_names[k] << ";\n";
        }
    }
    body << "ret;\n";
    return kernel(body.str());
}

std::uint64_t sentinel_of(const std::string& type) {
    return type == "pred"         ? 1
           : type.ends_with("64") ? 0xA5A5A5A55A5A5A5Aull
           : type.ends_with("32") ? 0x5AA5C33Cull
                                  : 0x5AC3ull;
}

std::vector<row> launch_elementwise(const operation& what, const std::string& guard, const std::vector<row>& operands) {
    program p(elementwise(what, guard));
    std::vector<std::uint64_t> in;
    for (const row& r : operands) {
        in.insert(in.end(), r.begin(), r.end());
    }
    std::vector<std::uint64_t> out;
    for (std::size_t n = 0; n < operands.size(); ++n) {
        for (const std::string& type : what.out) {
            out.push_back(sentinel_of(type));
        }
    }
    constexpr std::uint32_t block = 96;
    const std::uint64_t in_at = p.buffer(in);
    const std::uint64_t out_at = p.buffer(out);
    launch_options how;
    how.block.x = block;
    how.grid.x = static_cast<std::uint32_t>((operands.size() + block - 1) / block);
    p.run(how, {in_at, out_at, operands.size(), p.buffer<std::uint64_t>(4 * operands.size())});
    out = p.contents<std::uint64_t>(out_at, out.size());
    std::vector<row> results;
    for (std::size_t n = 0; n < operands.size(); ++n) {
        const auto first = out.begin() + static_cast<std::ptrdiff_t>(n * what.out.size());
        results.emplace_back(first, first + static_cast<std::ptrdiff_t>(what.out.size()));
    }
    return results;
}

std::string shown(const row& values) {
    std::ostringstream text;
    text << std::hex;
    for (const std::uint64_t v : values) {
        text << " 0x" << v;
    }
    return text.str();
}

} // namespace

bool on_hardware() {
    const char* const wish = std::getenv("SOFTGPU_TEST_ON");
    return wish != nullptr && std::string_view(wish) == "gpu";
}

std::unique_ptr<device> make_software_device(const std::string& ptx) { return std::make_unique<software_device>(ptx); }

program::program(const std::string& ptx) : on_(on_hardware() ? make_hardware_device(ptx) : make_software_device(ptx)) {}

machine::launch_result program::attempt(const launch_options& how, std::initializer_list<std::uint64_t> arguments) {
    std::vector<std::uint64_t> all(arguments);
    all.resize(kernel_parameters);
    return on_->launch("k", how, all);
}

machine::launch_result program::run(const launch_options& how, std::initializer_list<std::uint64_t> arguments) {
    machine::launch_result result = attempt(how, arguments);
    EXPECT_EQ(result.error.message, "");
    EXPECT_EQ(result.error.kind, machine::fault_kind::none);
    return result;
}

std::string kernel(std::string_view body, std::string_view declarations) {
    std::ostringstream text;
    text << ".version 8.5\n.target sm_90\n.address_size 64\n" << declarations << "\n.visible .entry k(";
    for (std::size_t n = 0; n < kernel_parameters; ++n) {
        text << (n == 0 ? "" : ", ") << ".param .u64 p" << n;
    }
    text << ")\n{\n.reg .b64 %p<8>;\n.reg .b32 %i;\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .f32 %f<16>;\n"
         << ".reg .f64 %fd<16>;\n.reg .b16 %h<16>;\n.reg .b8 %b<4>;\n.reg .pred %q<16>;\n";
    for (std::size_t n = 0; n < kernel_parameters; ++n) {
        text << "ld.param.u64 %p" << n << ", [p" << n << "];\n";
    }
    text << "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\nmad.lo.u32 %i, %r1, %r2, %r0;\n"
         << body << "\n}\n";
    return text.str();
}

threads_result run_threads(std::string_view body, const launch_options& how, std::size_t words,
                           std::string_view declarations, std::initializer_list<std::uint64_t> more) {
    program p(kernel("mul.wide.u32 %rd0, %i, " + std::to_string(4 * words) + "; add.u64 %rd0, %rd0, %p0;\n" +
                         std::string(body) + "\nret;",
                     declarations));
    const std::size_t count = static_cast<std::size_t>(how.grid.count() * how.block.count()) * words;
    const std::uint64_t out = p.buffer<std::uint32_t>(count);
    std::vector<std::uint64_t> arguments{out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.resize(kernel_parameters);
    threads_result result;
    result.how = p.run(how, {arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5],
                             arguments[6], arguments[7]});
    result.words = p.contents<std::uint32_t>(out, count);
    return result;
}

std::vector<row> evaluate(const operation& what, const std::vector<row>& operands, const likeness& alike) {
    std::vector<row> all = launch_elementwise(what, "", operands);
    if (on_hardware()) {
        return all; // ptxas drops the guards of testp and of set with a float result
    }
    const std::vector<row> guarded = launch_elementwise(what, "@%odd ", operands);
    for (std::size_t n = 0; n < operands.size(); ++n) {
        for (std::size_t k = 0; k < what.out.size(); ++k) {
            const std::uint64_t expected = n % 2 == 1 ? all[n][k] : sentinel_of(what.out[k]);
            if (alike ? !alike(expected, guarded[n][k]) : guarded[n][k] != expected) {
                ADD_FAILURE() << "@%odd " << what.text << " of" << shown(operands[n]) << " in thread " << n << " gave"
                              << shown(guarded[n]) << ", not 0x" << std::hex << expected;
                return all;
            }
        }
    }
    return all;
}

void check(const operation& what, const std::vector<row>& operands, const reference& expected, const likeness& alike) {
    const std::vector<row> actual = evaluate(what, operands, alike);
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < operands.size(); ++n) {
        const std::optional<row> want = expected(operands[n]);
        if (!want) {
            continue;
        }
        for (std::size_t k = 0; k < what.out.size(); ++k) {
            const bool same = alike ? alike((*want)[k], actual[n][k]) : (*want)[k] == actual[n][k];
            if (!same) {
                if (++wrong <= 3) {
                    ADD_FAILURE() << what.text << " of" << shown(operands[n]) << " gave" << shown(actual[n])
                                  << ", expected" << shown(*want);
                }
                break;
            }
        }
    }
    EXPECT_EQ(wrong, 0u) << "rows of " << operands.size() << ": " << what.text;
}

} // namespace softgpu::test
