// SPDX-License-Identifier: Apache-2.0
#include "core/build/toolkit.h"

#include "core/base/file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// A folder with a script that says what nvcc of some version would.
fs::path fakeToolkit(const fs::path& folder, const std::string& release, const std::string& version)
{
    fs::create_directories(folder / "bin");
    fs::create_directories(folder / "include");
    std::ofstream(folder / "include/cuda_runtime.h") << "";
    std::ofstream(folder / "bin/nvcc") << "#!/bin/sh\necho 'Cuda compilation tools, release " << release << ", V"
                                       << version << "'\n";
    fs::permissions(folder / "bin/nvcc", fs::perms::owner_all);
    return folder;
}

TEST(Toolkit, FindsTheRealOne)
{
    const auto toolkit = findToolkit();
    ASSERT_TRUE(toolkit.has_value()) << toolkit.error().message;
    EXPECT_TRUE(toolkit->version.starts_with("13.")) << toolkit->version;
    EXPECT_TRUE(fs::exists(toolkit->include / "cuda_runtime.h"));
    EXPECT_EQ(toolkit->identity.size(), 64u);
    EXPECT_EQ(findToolkit(toolkit->home)->identity, toolkit->identity);
}

TEST(Toolkit, SaysWhatToGet)
{
    const auto scratch = *ScratchFolder::create("toolkit");
    const std::string folder = scratch.path().string();
    EXPECT_EQ(findToolkit(scratch.path()).error().message,
              "there is no bin/nvcc in " + folder +
                  "; install CUDA toolkit 13.x from NVIDIA, or set CUDA_HOME to its folder");
    fakeToolkit(scratch.path(), "12.4", "12.4.131");
    const auto old = findToolkit(scratch.path());
    EXPECT_EQ(old.error().code, ErrorCode::NotSupported);
    EXPECT_EQ(old.error().message, folder + " is CUDA toolkit 12.4.131; Espalier needs 13.x: install CUDA toolkit 13.x "
                                            "from NVIDIA, or set CUDA_HOME to its folder");
    fakeToolkit(scratch.path(), "13.1", "13.1.80");
    EXPECT_EQ(findToolkit(scratch.path())->version, "13.1.80");
    ::setenv("CUDA_HOME", folder.c_str(), 1);
    EXPECT_EQ(findToolkit()->home, fs::canonical(scratch.path()));
    ::unsetenv("CUDA_HOME");
}

} // namespace
} // namespace espalier
