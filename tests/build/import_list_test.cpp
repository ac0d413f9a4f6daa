// SPDX-License-Identifier: Apache-2.0
#include "core/build/import_list.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(ImportList, Rows)
{
    EXPECT_TRUE(isAllowedImport("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"));
    EXPECT_TRUE(isAllowedImport("__cudaLaunchKernel"));
    for (const char* name : {"cudaMalloc", "cudaFree", "cudaDeviceSynchronize", "fork", "_exit", "dlsym",
                             "cublasSgemm_v2", "cuLaunchKernel", "cudaMemcpy", "pthread_create", "clock_gettime",
                             "mprotect", "cudaEventElapsedTime", "cudaHostAlloc"}) {
        EXPECT_FALSE(isAllowedImport(name)) << name;
        EXPECT_FALSE(whyForbidden(name).empty()) << name;
    }
    for (const AllowedImport& row : allowedImports()) {
        EXPECT_FALSE(row.why.empty()) << row.name;
    }
    EXPECT_FALSE(isAllowedLibrary("libcuda.so.1"));
}

TEST(ImportList, AGraphOfItsOwnIsAllowedAndAskingForTheCallersCaptureIsNot)
{
    for (const char* name : {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate",
                             "cudaGraphLaunch", "cudaGraphExecUpdate", "cudaGraphExecDestroy"}) {
        EXPECT_TRUE(isAllowedImport(name)) << name;
    }
    for (const char* name :
         {"cudaStreamIsCapturing", "cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_v3", "cudaStreamQuery",
          "cudaThreadExchangeStreamCaptureMode", "cudaStreamBeginCaptureToGraph", "cudaGraphAddHostNode",
          "cudaLaunchHostFunc", "cudaGraphAddMemAllocNode", "cudaStreamUpdateCaptureDependencies"}) {
        EXPECT_FALSE(isAllowedImport(name)) << name;
        EXPECT_FALSE(whyForbidden(name).empty()) << name;
    }
}

TEST(ImportList, OnlyTheDriversOwnFunctionsAreCalledTheDrivers)
{
    EXPECT_NE(whyForbidden("cuMemAlloc_v2").find("driver"), std::string_view::npos);
    for (const char* name : {"cudaStreamSetAttribute", "cudaDeviceSetCacheConfig", "cudaNobodyKnowsThis",
                             "curandGenerate", "cusparseCreate", "cupboard"}) {
        EXPECT_EQ(whyForbidden(name).find("driver"), std::string_view::npos) << name;
    }
}

} // namespace
} // namespace espalier
