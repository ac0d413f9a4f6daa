// SPDX-License-Identifier: GPL-3.0-only
// Headers without a .cpp of their own compile alone; the others are the first include of theirs, which is checked here.
#include "views/code_marks.h"
#include "views/engine_link.h"
#include "views/sign_label.h"

#include "core/base/file.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace fs = std::filesystem;

TEST(Headers, EveryFileIncludesItsOwnHeaderFirst)
{
    const fs::path views = fs::path(ESPALIER_SOURCE_DIR) / "views";
    int checked = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(views)) {
        if (entry.path().extension() != ".cpp" || !fs::exists(fs::path(entry.path()).replace_extension(".h"))) {
            continue;
        }
        const auto text = espalier::readFile(entry.path());
        ASSERT_TRUE(text) << text.error().message;
        const std::string own = "#include \"views/" + entry.path().stem().string() + ".h\"";
        EXPECT_EQ(text->find("#include"), text->find(own)) << entry.path();
        ++checked;
    }
    EXPECT_GT(checked, 30);
}
