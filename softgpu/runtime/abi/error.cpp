// SPDX-License-Identifier: MIT
#include "softgpu/runtime/abi/error.hpp"

namespace softgpu::runtime {

const char* name_of(error e) noexcept {
    switch (e) {
#define SOFTGPU_ERROR(code, id, name, text)                                                                            \
    case error::id:                                                                                                    \
        return #name;
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR
    }
    return "unrecognized error code";
}

const char* text_of(error e) noexcept {
    switch (e) {
#define SOFTGPU_ERROR(code, id, name, text)                                                                            \
    case error::id:                                                                                                    \
        return text;
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR
    }
    return "unrecognized error code";
}

} // namespace softgpu::runtime
