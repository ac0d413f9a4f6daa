// SPDX-License-Identifier: Apache-2.0
#include "core/judge/queue_need.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

ElfFacts library(std::vector<std::string> imports, std::vector<std::string> needed = {"libc.so.6"})
{
    ElfFacts facts;
    for (std::string& name : imports) {
        facts.imports.push_back({.name = std::move(name), .function = true});
    }
    facts.needed = std::move(needed);
    return facts;
}

TEST(QueueNeed, OneForCallsThatFollowEachOther)
{
    EXPECT_EQ(queuesFor(library(
                  {"__cudaLaunchKernel", "cudaMemsetAsync", "cudaFuncSetAttribute", "cudaGetDriverEntryPoint"})),
              Queues::One);
    EXPECT_EQ(queuesFor(library({"cublasCreate_v2", "cublasSgemm_v2"},
                                {"libcublas.so.13", "libcublasLt.so.13", "libc.so.6"})),
              Queues::One);
}

TEST(QueueNeed, TheDefaultWhereWorkMayRunSideBySide)
{
    for (const char* fork : {"cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority", "cudaStreamWaitEvent",
                             "cudaGraphLaunch", "cublasXtSgemm", "cuLaunchKernel", "dlsym", "dlopen"}) {
        EXPECT_EQ(queuesFor(library({"__cudaLaunchKernel", fork})), Queues::Default) << fork;
    }
    EXPECT_EQ(queuesFor(library({"cudnnCreate"}, {"libcudnn.so.9", "libc.so.6"})), Queues::Default);
}

} // namespace
} // namespace espalier::judge
