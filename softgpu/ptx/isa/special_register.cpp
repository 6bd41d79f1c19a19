// SPDX-License-Identifier: MIT
// The table of predefined registers.
#include "softgpu/ptx/isa/special_register.hpp"

#include <array>
#include <cstdint>

namespace softgpu::ptx {

namespace {

enum class form : std::uint8_t { scalar, vector, numbered }; // vector: with .x .y .z .w

struct entry {
    std::string_view name;
    form shape = form::scalar;
    unsigned count = 0; // of numbered: %envreg0 to %envreg31
};

constexpr std::array entries{
    entry{"%tid", form::vector},
    entry{"%ntid", form::vector},
    entry{"%ctaid", form::vector},
    entry{"%nctaid", form::vector},
    entry{"%clusterid", form::vector},
    entry{"%nclusterid", form::vector},
    entry{"%cluster_ctaid", form::vector},
    entry{"%cluster_nctaid", form::vector},
    entry{"%laneid"},
    entry{"%warpid"},
    entry{"%nwarpid"},
    entry{"%smid"},
    entry{"%nsmid"},
    entry{"%gridid"},
    entry{"%is_explicit_cluster"},
    entry{"%cluster_ctarank"},
    entry{"%cluster_nctarank"},
    entry{"%lanemask_eq"},
    entry{"%lanemask_le"},
    entry{"%lanemask_lt"},
    entry{"%lanemask_ge"},
    entry{"%lanemask_gt"},
    entry{"%clock"},
    entry{"%clock_hi"},
    entry{"%clock64"},
    entry{"%pm", form::numbered, 8},
    entry{"%envreg", form::numbered, 32},
    entry{"%globaltimer"},
    entry{"%globaltimer_lo"},
    entry{"%globaltimer_hi"},
    entry{"%reserved_smem_offset_begin"},
    entry{"%reserved_smem_offset_end"},
    entry{"%reserved_smem_offset_cap"},
    entry{"%reserved_smem_offset_", form::numbered, 2},
    entry{"%total_smem_size"},
    entry{"%aggr_smem_size"},
    entry{"%dynamic_smem_size"},
    entry{"%current_graph_exec"},
};

bool is_number_below(std::string_view digits, unsigned count) noexcept {
    if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] == '0')) {
        return false;
    }
    unsigned value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') {
            return false;
        }
        value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return value < count;
}

bool matches(const entry& e, std::string_view name) noexcept {
    if (!name.starts_with(e.name)) {
        return false;
    }
    std::string_view rest = name.substr(e.name.size());
    switch (e.shape) {
    case form::scalar: return rest.empty();
    case form::vector: return rest.empty() || rest == ".x" || rest == ".y" || rest == ".z" || rest == ".w";
    case form::numbered: break;
    }
    if (e.name == "%pm" && rest.ends_with("_64")) {
        rest.remove_suffix(3);
    }
    return is_number_below(rest, e.count);
}

} // namespace

bool is_special_register(std::string_view name) noexcept {
    for (const entry& e : entries) {
        if (matches(e, name)) {
            return true;
        }
    }
    return false;
}

} // namespace softgpu::ptx
