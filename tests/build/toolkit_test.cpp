// SPDX-License-Identifier: Apache-2.0
#include "core/build/toolkit.h"

#include "core/base/file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>

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

/// A value of the environment for as long as this lives; nullptr: none.
class Variable
{
public:
    Variable(const char* name, const char* value) : m_name(name)
    {
        if (const char* before = std::getenv(name)) {
            m_before = before;
        }
        value ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    ~Variable() { m_before ? ::setenv(m_name, m_before->c_str(), 1) : ::unsetenv(m_name); }

private:
    const char* m_name;
    std::optional<std::string> m_before;
};

TEST(Toolkit, Field10AWrapperLeadsToTheCompilerItself)
{
    const Toolkit real = *findToolkit();
    const auto scratch = *ScratchFolder::create("wrapper");
    fs::create_directories(scratch.path() / "bin");
    std::ofstream(scratch.path() / "bin/nvcc") << "#!/bin/sh\nexec '" << real.nvcc.string() << "' \"$@\"\n";
    fs::permissions(scratch.path() / "bin/nvcc", fs::perms::owner_all);
    const Variable none("CUDA_HOME", nullptr);
    const Variable path("PATH", ((scratch.path() / "bin").string() + ":/usr/bin:/bin").c_str());
    const auto found = findToolkit();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->nvcc, real.nvcc);
    EXPECT_EQ(found->identity, real.identity) << "builds of the one are builds of the other";
}

/// As conda lays it out: programs in bin, headers and libraries under targets/, the rest where nvcc.profile says.
TEST(Toolkit, Field10HeadersAreWhereNvccLooksForThem)
{
    const Toolkit real = *findToolkit();
    const auto scratch = *ScratchFolder::create("layout");
    const fs::path home = scratch.path() / "an env", target = home / "targets/x86_64-linux";
    fs::create_directories(home / "bin");
    fs::create_directories(target);
    fs::copy_file(real.nvcc, home / "bin/nvcc");
    fs::create_directory_symlink(fs::canonical(real.include), target / "include");
    fs::create_directory_symlink(fs::canonical(real.lib), target / "lib");
    std::ofstream(home / "bin/nvcc.profile")
        << "TOP = $(_HERE_)/../targets/x86_64-linux\nCICC_PATH = " << (real.home / "nvvm/bin").string()
        << "\nNVVMIR_LIBRARY_DIR = " << (real.home / "nvvm/libdevice").string()
        << "\nPATH += " << real.nvcc.parent_path().string()
        << ":\nINCLUDES += \"-I$(TOP)/include\" $(_SPACE_)\nLIBRARIES =+ $(_SPACE_) \"-L$(TOP)/lib\"\n";
    const auto found = findToolkit(home);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->home, fs::canonical(home));
    EXPECT_EQ(found->include, fs::canonical(home) / "targets/x86_64-linux/include");
    EXPECT_EQ(found->lib, fs::canonical(home) / "targets/x86_64-linux/lib");
    for (const fs::path& needed : {real.home / "nvvm/bin", real.nvcc.parent_path(), fs::canonical(real.include)}) {
        EXPECT_NE(std::find(found->folders.begin(), found->folders.end(), needed), found->folders.end()) << needed;
    }
}

TEST(Toolkit, Field10ACudaHomeThatIsNotThereIsAnError)
{
    const Variable home("CUDA_HOME", "/opt/no-such-toolkit");
    EXPECT_EQ(findToolkit().error().message, "CUDA_HOME is /opt/no-such-toolkit, which does not exist; set it to the "
                                             "folder of a CUDA toolkit 13.x, or unset it");
    const Variable empty("CUDA_HOME", "/usr/share");
    EXPECT_EQ(findToolkit().error().message, "CUDA_HOME is /usr/share, where there is no bin/nvcc; set it to the "
                                             "folder of a CUDA toolkit 13.x, or unset it");
}

TEST(Toolkit, Field10WithoutAPath)
{
    const Toolkit real = *findToolkit();
    const Variable home("CUDA_HOME", real.home.c_str()), path("PATH", nullptr);
    const auto found = findToolkit();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->identity, real.identity);
}

} // namespace
} // namespace espalier
