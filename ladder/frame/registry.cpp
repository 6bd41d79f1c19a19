// SPDX-License-Identifier: MIT
// All ladders and laboratories, in the order of the catalogue.
#include "ladder/convolution/steps.hpp"
#include "ladder/errors/steps.hpp"
#include "ladder/frame/runner.hpp"
#include "ladder/histogram/steps.hpp"
#include "ladder/matmul/steps.hpp"
#include "ladder/memory/steps.hpp"
#include "ladder/occupancy/steps.hpp"
#include "ladder/scan/steps.hpp"
#include "ladder/shared/steps.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/transpose/steps.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::frame {

const std::vector<const study_definition*>& all_studies() {
    static const std::vector<const study_definition*> all{
        &scan::ladder(),          &histogram::ladder(), &convolution::ladder(), &memory::laboratory(),
        &shared::laboratory(),    &matmul::ladder(),    &transpose::ladder(),   &warps::laboratory(),
        &occupancy::laboratory(), &streams::laboratory(), &errors::laboratory()};
    return all;
}

} // namespace warpfold::ladder::frame
