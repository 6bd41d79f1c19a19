// SPDX-License-Identifier: MIT
// The layout of a kernel's constants: each immediate once, 32 lanes wide, and room for values of the launch or block.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>

#include "softgpu/machine/code/program_code.hpp"

namespace softgpu::machine {

class constant_layout {
public:
    explicit constant_layout(program_code& code) : code_(code) {}

    // `bits` in every lane of `bytes` (2, 4, 8, 16); a lane mask where bytes is 0.
    place immediate(std::uint64_t bits, unsigned bytes) {
        const auto key = std::make_pair(bits, bytes);
        if (const auto known = immediates_.find(key); known != immediates_.end()) {
            return known->second;
        }
        const place at = room(bytes);
        std::byte* const p = code_.constants.data() + (at & ~in_constants);
        for (unsigned l = 0; l < (bytes == 0 ? 1 : lanes); ++l) {
            std::memcpy(p + l * bytes, &bits, bytes == 0 ? 4 : std::min(bytes, 8u));
        }
        immediates_.emplace(key, at);
        return at;
    }

    // Different in each lane.
    template <class Value>
    place by_lane(const std::string& name, Value&& value) {
        if (const auto known = named_.find(name); known != named_.end()) {
            return known->second;
        }
        const place at = room(4);
        for (unsigned l = 0; l < lanes; ++l) {
            const std::uint32_t v = value(l);
            std::memcpy(code_.constants.data() + (at & ~in_constants) + 4 * l, &v, 4);
        }
        named_.emplace(name, at);
        return at;
    }

    place of(uniform what, unsigned bytes) {
        auto& list = is_of_block(what) ? code_.of_block : code_.of_launch;
        for (const uniform_place& u : list) {
            if (u.what == what && u.bytes == bytes) {
                return u.at;
            }
        }
        list.push_back({what, room(bytes), static_cast<std::uint8_t>(bytes)});
        return list.back().at;
    }

    place parameter(std::uint32_t offset, unsigned bytes, bool is_signed, unsigned lane_bytes) {
        for (const parameter_place& p : code_.parameters) {
            if (p.offset == offset && p.bytes == bytes && p.is_signed == is_signed && p.lane_bytes == lane_bytes) {
                return p.at;
            }
        }
        code_.parameters.push_back({offset, static_cast<std::uint8_t>(bytes), is_signed,
                                    static_cast<std::uint8_t>(lane_bytes), room(lane_bytes)});
        return code_.parameters.back().at;
    }

    place parameter_address(std::uint64_t offset) {
        const place at = room(8);
        for (unsigned l = 0; l < lanes; ++l) {
            std::memcpy(code_.constants.data() + (at & ~in_constants) + 8 * l, &offset, 8);
        }
        code_.parameter_address.push_back(at);
        return at;
    }

private:
    static bool is_of_block(uniform what) {
        switch (what) {
        case uniform::ctaid_x:
        case uniform::ctaid_y:
        case uniform::ctaid_z:
        case uniform::clusterid_x:
        case uniform::clusterid_y:
        case uniform::clusterid_z:
        case uniform::cluster_ctaid_x:
        case uniform::cluster_ctaid_y:
        case uniform::cluster_ctaid_z:
        case uniform::cluster_ctarank:
        case uniform::smid: return true;
        default: return false;
        }
    }
    place room(unsigned bytes) {
        const std::size_t at = code_.constants.size();
        code_.constants.resize(at + std::max<std::size_t>(64, std::size_t{bytes} * lanes));
        return static_cast<place>(at) | in_constants;
    }

    program_code& code_;
    std::map<std::pair<std::uint64_t, unsigned>, place> immediates_;
    std::map<std::string, place> named_;
};

} // namespace softgpu::machine
