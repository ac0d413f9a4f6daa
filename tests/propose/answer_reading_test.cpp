// SPDX-License-Identifier: Apache-2.0
// What is read from answers in all the forms that models give them.
#include "core/propose/llm/answer_reading.h"

#include "core/llm/answer_bytes.h"
#include "core/propose/source_text.h"
#include "tests/propose/answer_forms.h"

#include <cctype>
#include <gtest/gtest.h>

namespace espalier {
namespace {

ReadKernel read(const std::string& bytes)
{
    auto task = std::make_shared<Task>();
    task->entry = formEntry;
    Exchange answered;
    answered.answer = llm::answerTextOf(bytes);
    answered.finish = "complete";
    ImplementContext context;
    context.task = std::move(task);
    context.parentSource = "// the parent\n";
    return readKernel(answered, context);
}

std::string withoutBlanks(const std::string& text)
{
    std::string out;
    for (const char byte : text) {
        out += std::isspace(static_cast<unsigned char>(byte)) ? "" : std::string(1, byte);
    }
    return out;
}

TEST(AnswerForms, EachGivesTheWholeKernelOrTheReason)
{
    int right = 0;
    const std::vector<AnswerForm> forms = answerForms();
    for (const AnswerForm& form : forms) {
        const ReadKernel got = read(form.bytes);
        const bool same = withoutBlanks(got.source) == withoutBlanks(form.source);
        const bool told =
            form.source.empty() ? got.mismatch.find(form.reason) != std::string::npos : got.mismatch.empty();
        EXPECT_TRUE(same && told) << "form: " << form.name << "\nmismatch: " << got.mismatch << "\nread:\n"
                                  << got.source;
        right += same && told ? 1 : 0;
    }
    RecordProperty("forms", static_cast<int>(forms.size()));
    RecordProperty("right", right);
    EXPECT_GE(forms.size(), 60u);
}

TEST(AnswerForms, WhatOnlyACommentNamesIsNotDefined)
{
    const ReadKernel got =
        read("```cuda\n#include <cstdint>\n// scale_f32 stays as it was\n__global__ void k() {}\n```");
    EXPECT_NE(got.mismatch.find("does not define the entry scale_f32"), std::string::npos) << got.mismatch;
    EXPECT_EQ(got.source, "");
}

TEST(AnswerForms, StringsAndCommentsKeepTheirCharacters)
{
    const std::string code = "#include <cstdio>\n// \u201cwide\u201d \u2013 loads\n"
                             "extern \"C\" int scale_f32(float* y) { return puts(\"\u201ca\u201d \u2013 &lt;\"); }\n";
    EXPECT_EQ(read("```cuda\n" + code + "```").source, code);
}

TEST(AnswerForms, PartsThatAreNotCalledStayOut)
{
    const std::string code = "#include <cstdint>\n__global__ void k(float* y) { *y = 1; }\n"
                             "extern \"C\" int scale_f32(float* y) { k<<<1, 1>>>(y); return 0; }\n";
    const std::string other = "__global__ void other(float* y) { *y = 2; }\n";
    EXPECT_EQ(read("```cuda\n" + code + "```\nAn idea for later:\n```cuda\n" + other + "```\n").source, code);
    EXPECT_EQ(read("```cuda\n" + code + "```\nInside k:\n```cuda\nk<<<1, 1>>>(y);\nfor (;;) {}\n```\n").source, code);
}

} // namespace
} // namespace espalier
