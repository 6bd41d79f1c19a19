// SPDX-License-Identifier: MIT
// Balances of accounts. The bookings of all accounts are in one array, and each account begins with a balance of 100.
// One call computes the balance after every booking.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "warpfold/scan.cuh"

namespace {

template <class T>
T* on_device(const std::vector<T>& from) {
    T* to = nullptr;
    WARPFOLD_CHECK_CUDA(cudaMalloc(&to, from.size() * sizeof(T)));
    WARPFOLD_CHECK_CUDA(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

} // namespace

int main() {
    try {
        // Account a has a + 1 bookings, alternating +3 and -1.
        std::vector<int> bookings;
        std::vector<std::uint64_t> begins;
        for (unsigned account = 0; account < 300; ++account) {
            begins.push_back(bookings.size());
            for (unsigned k = 0; k <= account; ++k) {
                bookings.push_back(k % 2 == 0 ? 3 : -1);
            }
        }
        int* const amounts = on_device(bookings);
        std::uint64_t* const accounts = on_device(begins);

        warpfold::inclusive_scan(warpfold::gpu{}, amounts, bookings.size(), amounts, warpfold::sum{}, 100,
                                 warpfold::offsets(accounts, begins.size()));

        std::vector<int> balances(bookings.size());
        WARPFOLD_CHECK_CUDA(
            cudaMemcpy(balances.data(), amounts, balances.size() * sizeof(int), cudaMemcpyDeviceToHost));
        for (const unsigned account : {0u, 1u, 2u, 299u}) {
            const std::size_t last = account + 1 < begins.size() ? begins[account + 1] - 1 : balances.size() - 1;
            std::printf("account %u: first %d, last %d\n", account, balances[begins[account]], balances[last]);
        }
        cudaFree(amounts);
        cudaFree(accounts);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
