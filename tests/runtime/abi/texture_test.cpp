// SPDX-License-Identifier: MIT
// Our declarations of arrays, textures and surfaces against CUDA's own headers: all checked while compiling.
#include <cuda_runtime_api.h>

#include "softgpu/runtime/abi/texture.hpp"
#include "tests/runtime/abi/same_abi.hpp"

SAME_VALUE(array_layered, cudaArrayLayered);
SAME_VALUE(array_surface, cudaArraySurfaceLoadStore);
SAME_VALUE(array_cubemap, cudaArrayCubemap);
SAME_VALUE(array_gather, cudaArrayTextureGather);
SAME_VALUE(array_sparse, cudaArraySparse);
SAME_VALUE(array_deferred, cudaArrayDeferredMapping);
SAME_VALUE(channel_kind::signed_integer, cudaChannelFormatKindSigned);
SAME_VALUE(channel_kind::unsigned_integer, cudaChannelFormatKindUnsigned);
SAME_VALUE(channel_kind::real, cudaChannelFormatKindFloat);
SAME_VALUE(channel_kind::none, cudaChannelFormatKindNone);
SAME_VALUE(channel_kind::unsigned_unit_8x1, cudaChannelFormatKindUnsignedNormalized8X1);
SAME_VALUE(channel_kind::unsigned_unit_16x4, cudaChannelFormatKindUnsignedNormalized16X4);
SAME_VALUE(channel_kind::signed_unit_8x1, cudaChannelFormatKindSignedNormalized8X1);
SAME_VALUE(channel_kind::signed_unit_16x4, cudaChannelFormatKindSignedNormalized16X4);
SAME_SIZE(array_requirements, cudaArrayMemoryRequirements);

SAME_SIZE(resource_description, cudaResourceDesc);
SAME_PLACE(resource_description, array, cudaResourceDesc, res.array.array);
SAME_PLACE(resource_description, mipmaps, cudaResourceDesc, res.mipmap.mipmap);
SAME_PLACE(resource_description, linear.pointer, cudaResourceDesc, res.linear.devPtr);
SAME_PLACE(resource_description, linear.format, cudaResourceDesc, res.linear.desc);
SAME_PLACE(resource_description, linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
SAME_PLACE(resource_description, plane.pointer, cudaResourceDesc, res.pitch2D.devPtr);
SAME_PLACE(resource_description, plane.format, cudaResourceDesc, res.pitch2D.desc);
SAME_PLACE(resource_description, plane.width, cudaResourceDesc, res.pitch2D.width);
SAME_PLACE(resource_description, plane.height, cudaResourceDesc, res.pitch2D.height);
SAME_PLACE(resource_description, plane.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_VALUE(resource_type::array, cudaResourceTypeArray);
SAME_VALUE(resource_type::mipmaps, cudaResourceTypeMipmappedArray);
SAME_VALUE(resource_type::linear, cudaResourceTypeLinear);
SAME_VALUE(resource_type::plane, cudaResourceTypePitch2D);

SAME_SIZE(texture_description, cudaTextureDesc);
SAME_PLACE(texture_description, mode, cudaTextureDesc, addressMode);
SAME_PLACE(texture_description, filter, cudaTextureDesc, filterMode);
SAME_PLACE(texture_description, read, cudaTextureDesc, readMode);
SAME_PLACE(texture_description, srgb, cudaTextureDesc, sRGB);
SAME_PLACE(texture_description, border, cudaTextureDesc, borderColor);
SAME_PLACE(texture_description, normalized, cudaTextureDesc, normalizedCoords);
SAME_PLACE(texture_description, most_anisotropy, cudaTextureDesc, maxAnisotropy);
SAME_PLACE(texture_description, between_levels, cudaTextureDesc, mipmapFilterMode);
SAME_PLACE(texture_description, level_bias, cudaTextureDesc, mipmapLevelBias);
SAME_PLACE(texture_description, least_level, cudaTextureDesc, minMipmapLevelClamp);
SAME_PLACE(texture_description, most_level, cudaTextureDesc, maxMipmapLevelClamp);
SAME_PLACE(texture_description, no_trilinear_optimization, cudaTextureDesc, disableTrilinearOptimization);
SAME_PLACE(texture_description, seamless, cudaTextureDesc, seamlessCubemap);
SAME_VALUE(address_mode::border, cudaAddressModeBorder);
SAME_VALUE(filter_mode::linear, cudaFilterModeLinear);
SAME_VALUE(read_mode::unit, cudaReadModeNormalizedFloat);

SAME_SIZE(view_description, cudaResourceViewDesc);
SAME_PLACE(view_description, width, cudaResourceViewDesc, width);
SAME_PLACE(view_description, first_level, cudaResourceViewDesc, firstMipmapLevel);
SAME_PLACE(view_description, last_layer, cudaResourceViewDesc, lastLayer);
SAME_VALUE(view_format::unsigned_8x1, cudaResViewFormatUnsignedChar1);
SAME_VALUE(view_format::real_16x1, cudaResViewFormatHalf1);
SAME_VALUE(view_format::real_32x1, cudaResViewFormatFloat1);
SAME_VALUE(view_format::real_32x4, cudaResViewFormatFloat4);
