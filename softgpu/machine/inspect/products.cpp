// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/products.hpp"

#include "softgpu/machine/inspect/block_checks.hpp"

namespace softgpu::machine {

bool is_product(const block& b, check::stamp read) {
    const access_site* const site = b.checks->sites->by_id[check::site_of(read)];
    return site != nullptr && site->function->instructions[site->source].op == ptx::opcode::wgmma;
}

product_reads unordered_products(const block& b, std::uint64_t at,
                                 const std::function<bool(const check::event&)>& is_ordered) {
    product_reads result;
    if (b.checks->products == nullptr) {
        return result;
    }
    for (unsigned group = 0; group < b.checks->products->by_group.size(); ++group) {
        const auto& readers = b.checks->products->by_group[group];
        if (at / product_unit >= readers.size() || readers[at / product_unit].number == 0) {
            continue;
        }
        std::optional<check::event> waited;
        bool known = false;
        for (unsigned k = 0; k < warpgroup_warps && !known; ++k) {
            if (const std::uint64_t time = readers[at / product_unit].waited[k]; time != 0) {
                waited = check::event{time, group * warpgroup_warps + k, 0};
                known = is_ordered(*waited);
            }
        }
        if (!known) {
            result.under_way = result.under_way || !waited;
            result.waited = waited ? waited : result.waited;
        }
    }
    return result;
}

} // namespace softgpu::machine
