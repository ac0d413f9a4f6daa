// SPDX-License-Identifier: Apache-2.0
#include "core/llm/answer_text.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace espalier::llm;

namespace {

const std::string kernel =
    "#include <cuda_runtime.h>\n__global__ void k(float* y) {}\n"
    "extern \"C\" cudaError_t op_f32(float* y, cudaStream_t stream)\n{\n    return cudaSuccess;\n}\n";

std::string fenced(const std::string& language, const std::string& code, const std::string& fence = "```")
{
    return fence + language + "\n" + code + fence + "\n";
}

std::string titlesOf(const std::vector<IdeaText>& ideas)
{
    std::string all;
    for (const IdeaText& idea : ideas) {
        all += idea.title + " | " + idea.text + "\n";
    }
    return all;
}

} // namespace

// --- reasoning tags

TEST(B20_Reasoning, ClosedTagsAreTakenOut)
{
    const auto split = splitReasoning("<think>first this</think>\nThe answer.");
    EXPECT_EQ(split.text, "The answer.");
    EXPECT_EQ(split.reasoning, "first this");
}

TEST(B20_Reasoning, AnyCloserClosesAnyOpener)
{
    EXPECT_EQ(splitReasoning("<think>a</thinking>b").text, "b");
    EXPECT_EQ(splitReasoning("<reasoning>a</thought>b").text, "b");
    EXPECT_EQ(splitReasoning("[THINK]a[/THINK]b").text, "b");
    EXPECT_EQ(splitReasoning("<seed:think>a</seed:think>b").text, "b");
    EXPECT_EQ(splitReasoning("\xe2\x97\x81think\xe2\x96\xb7"
                             "a\xe2\x97\x81/think\xe2\x96\xb7"
                             "b")
                  .text,
              "b");
    EXPECT_EQ(splitReasoning("< Thinking >a</ THINK >b").text, "b");
}

TEST(B20_Reasoning, ACloserAloneEndsWhatBeganWithTheText)
{
    const auto split = splitReasoning("I should use float4.\n</think>\n\nUse float4.");
    EXPECT_EQ(split.text, "Use float4.");
    EXPECT_EQ(split.reasoning, "I should use float4.");
}

TEST(B20_Reasoning, AnUnclosedOpenerTakesTheRest)
{
    const auto split = splitReasoning("<think>and so on and");
    EXPECT_EQ(split.text, "");
    EXPECT_EQ(split.reasoning, "and so on and");
}

TEST(B20_Reasoning, NestedTagsLeaveOnlyTheAnswer)
{
    EXPECT_EQ(splitReasoning("<think>a<think>b</think>c</think>d").text, "d");
}

TEST(B20_Reasoning, ChannelsOfGptOss)
{
    const auto split = splitReasoning(
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>");
    EXPECT_EQ(split.text, "yes");
    EXPECT_EQ(split.reasoning, "hm");
}

TEST(B20_Reasoning, TagsInsideCodeAreCode)
{
    const std::string answer = "Here:\n" + fenced("cuda", "// <think> is no tag here\nint a[thinking];\n");
    EXPECT_EQ(splitReasoning(answer).text + "\n", answer);
    EXPECT_EQ(splitReasoning("The tag `<think>` is common.").text, "The tag `<think>` is common.");
}

TEST(B20_Reasoning, IndentedFencesCountOnce)
{
    const std::string answer = "1. so\n   ```cuda\n   // a <think> in code\n   ```\n2. then";
    EXPECT_EQ(splitReasoning(answer).text, answer);
    EXPECT_EQ(splitReasoning("<think>x</think>```cuda\nint a; // <think>\n```").text,
              "```cuda\nint a; // <think>\n```");
}

TEST(B20_Reasoning, AnOpenFenceInsideReasoningHidesNothing)
{
    const auto choice = chooseCode("<think>like\n```cuda\nint draft;\n</think>\n" + fenced("cuda", kernel), "op_f32");
    EXPECT_EQ(choice.source(), kernel) << choice.why;
}

TEST(B20_Reasoning, CodeThatStandsOnlyInsideReasoningIsNotLost)
{
    const auto choice = chooseCode("<think>So:\n" + fenced("cuda", kernel), "op_f32");
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_NE(choice.why.find("inside the reasoning"), std::string::npos) << choice.why;
}

TEST(B20_Reasoning, CodeInsideReasoningDoesNotBeatTheAnswer)
{
    const std::string draft = "// a long draft, which is longer than the answer\n" + kernel + kernel;
    const auto choice = chooseCode("<think>" + fenced("cuda", draft) + "</think>" + fenced("", kernel), "op_f32");
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_EQ(choice.blocks.size(), 2u);
}

// --- fences

TEST(B20_Fences, ABlockInsideADocumentIsFound)
{
    const auto choice = chooseCode(fenced("markdown", "# Kernel\n\n" + fenced("cuda", kernel) + "\nDone.\n"), "op_f32");
    ASSERT_EQ(choice.blocks.size(), 2u);
    EXPECT_EQ(choice.blocks[0].language, "markdown");
    EXPECT_EQ(choice.blocks[1].depth, 1);
    EXPECT_EQ(choice.source(), kernel);
}

TEST(B20_Fences, AnExampleInsideACommentStaysInTheSource)
{
    const std::string code = "/* usage:\n```cpp\nop_f32(y, 0);\n```\n*/\n" + kernel;
    const auto choice = chooseCode(fenced("cuda", code), "op_f32");
    EXPECT_EQ(choice.source(), code);
}

TEST(B20_Fences, LongerFencesHoldShorterOnes)
{
    const std::string code = "/*\n```\n*/\n" + kernel;
    EXPECT_EQ(chooseCode(fenced("cuda", "/*\n```\n```\n*/\n" + kernel, "````"), "op_f32").source(),
              "/*\n```\n```\n*/\n" + kernel);
    EXPECT_EQ(chooseCode(fenced("cuda", code, "~~~"), "op_f32").source(), code);
}

TEST(B20_Fences, ALostClosingFenceDoesNotSwallowTheNextBlock)
{
    const auto choice = chooseCode("```cuda\nint draft;\n\nBetter:\n" + fenced("cuda", kernel), "op_f32");
    ASSERT_EQ(choice.blocks.size(), 2u);
    EXPECT_FALSE(choice.blocks[0].closed);
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_EQ(choice.blocks[1].depth, 0);
}

TEST(B20_Fences, AMissingEndIsSaid)
{
    const auto choice = chooseCode("```cuda\n" + kernel, "op_f32");
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_FALSE(choice.blocks[0].closed);
    EXPECT_NE(choice.why.find("closing fence is missing"), std::string::npos);
}

TEST(B20_Fences, IndentationOfAListGoesWithTheFence)
{
    EXPECT_EQ(codeBlocks("1. so\n   ```cuda\n   int a;\n     int b;\n   ```\n")[0].text, "int a;\n  int b;\n");
}

TEST(B20_Fences, WindowsLineEnds)
{
    EXPECT_EQ(codeBlocks("```cuda\r\nint a;\r\n```\r\n")[0].text, "int a;\n");
}

// --- choice

TEST(B21_Choice, AnExplanationBeforeTheAnswerIsNotTaken)
{
    const std::string answer = "The launch looks like\n" +
                               fenced("cpp", "k<<<1, 32>>>(y); // many words, many words, many words\n") +
                               "and in full:\n" + fenced("", kernel);
    const auto choice = chooseCode(answer, "op_f32");
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_EQ(choice.blocks.size(), 2u) << "all are kept";
    EXPECT_EQ(choice.why, "block 2 of 2: defines op_f32");
}

TEST(B21_Choice, LanguageThenLengthThenTheLast)
{
    const std::string longer = "// more\n" + kernel;
    EXPECT_EQ(chooseCode(fenced("", longer) + fenced("cuda", kernel), "op_f32").source(), kernel);
    EXPECT_EQ(chooseCode(fenced("cuda", longer) + fenced("cuda", kernel), "op_f32").source(), longer);
    const std::string other = "// less\n" + kernel;
    EXPECT_EQ(chooseCode(fenced("cuda", longer) + fenced("cuda", other), "op_f32").source(), other);
}

TEST(B21_Choice, ADeclarationIsNoDefinition)
{
    const std::string declares =
        "extern \"C\" cudaError_t op_f32(float* y, cudaStream_t stream);\n" + std::string(2000, '/') + "\n";
    EXPECT_EQ(chooseCode(fenced("cuda", declares) + fenced("cuda", kernel), "op_f32").source(), kernel);
}

TEST(B21_Choice, ANameInsideAnotherNameDoesNotCount)
{
    std::string other = kernel;
    other.replace(other.find("op_f32"), 6, "my_op_f32x");
    EXPECT_EQ(
        chooseCode(fenced("cuda", kernel) + fenced("cuda", "// longer by far ------------------\n" + other), "op_f32")
            .source(),
        kernel);
}

TEST(B21_Choice, WhatIsNoSourceIsNeverTaken)
{
    const auto choice =
        chooseCode(fenced("diff", "+" + kernel) + fenced("json", "{}\n") + fenced("", "make run\n"), "op_f32");
    EXPECT_FALSE(choice.taken);
    EXPECT_EQ(choice.why, "none of the 3 blocks is CUDA or C++ source");
    EXPECT_FALSE(chooseCode("I cannot do that.", "op_f32").taken);
    EXPECT_FALSE(chooseCode("", "op_f32").taken);
}

TEST(B21_Choice, AnAnswerWithoutFencesThatIsSource)
{
    const auto choice = chooseCode("Sure, here it is:\n" + kernel, "op_f32");
    EXPECT_EQ(choice.source(), kernel);
    EXPECT_NE(choice.why.find("source itself"), std::string::npos);
}

TEST(B21_Choice, AnAnswerThatOnlyRepeatsTheNameIsReadInNoTime)
{
    std::string text;
    for (int i = 0; i < 200'000; ++i) {
        text += "op_f32(";
    }
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_FALSE(chooseCode(text, "op_f32").taken);
    EXPECT_EQ(chooseCode("```cuda\n" + text + "\n```\n", "op_f32").blocks.size(), 1u);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30))
        << "linear: a square would take minutes";
}

// --- ideas

TEST(Ideas, StructuredOutput)
{
    const auto ideas = parseIdeas(
        R"({"ideas":[{"title":"Keep rows","text":"Keep the row in registers."},{"title":"Vectors","text":"Load float4."}]})");
    EXPECT_EQ(titlesOf(ideas), "Keep rows | Keep the row in registers.\nVectors | Load float4.\n");
}

TEST(Ideas, JsonInsideProseWithTrailingCommasAndComments)
{
    const auto ideas =
        parseIdeas("Think of A[i] and {x}.\n```json\n[\n  {'name': 'One', \"description\": \"first\nline\",}, // "
                   "best\n  \"Use cp.async. It hides latency\",\n]\n```\nGood luck!");
    EXPECT_EQ(titlesOf(ideas), "One | first\nline\nUse cp.async | Use cp.async. It hides latency\n");
}

TEST(Ideas, ACutListKeepsItsWholeEntries)
{
    const auto ideas = parseIdeas(R"({"ideas": [{"title": "A", "text": "a"}, {"title": "B", "text": "b is cu)");
    EXPECT_EQ(titlesOf(ideas), "A | a\n");
}

TEST(Ideas, OneObjectEach)
{
    const std::string both = "Rows | keep them\nVectors | load float4\n";
    EXPECT_EQ(titlesOf(parseIdeas("{\"title\": \"Rows\", \"text\": \"keep them\"}\n"
                                  "{\"title\": \"Vectors\", \"text\": \"load float4\"}\n")),
              both);
    EXPECT_EQ(titlesOf(parseIdeas(R"({"idea_1": {"title": "Rows", "text": "keep them"},
                                      "idea_2": {"title": "Vectors", "text": "load float4"}})")),
              both);
    EXPECT_EQ(titlesOf(parseIdeas(R"({"analysis": {"text": "memory bound"},
                                      "ideas": [{"title": "Rows", "text": "keep them"}]})")),
              "Rows | keep them\n");
}

TEST(Ideas, UnicodeEscapes)
{
    EXPECT_EQ(parseIdeas(R"(["\u2264 2 \ud83d\ude00 \q"])")[0].text, "\xe2\x89\xa4 2 \xf0\x9f\x98\x80 \\q");
}

TEST(Ideas, NumberedMarkdown)
{
    const auto ideas =
        parseIdeas("Here are three:\n\n1. **Keep rows**: in registers,\n   for all of it\n2. **Vectors.** Load "
                   "float4\n   - needs alignment\n3. Split: two blocks a row\n\nTell me which.");
    EXPECT_EQ(titlesOf(ideas), "Keep rows | in registers,\nfor all of it\nVectors | Load float4\n- needs "
                               "alignment\nSplit | two blocks a row\n");
}

TEST(Ideas, HeadingsWithDetails)
{
    const auto ideas =
        parseIdeas("# Plan\n## Idea 1: Registers\nKeep it.\n- one\n- two\n## Idea 2: Vectors\nLoad float4.\n");
    ASSERT_EQ(ideas.size(), 2u);
    EXPECT_EQ(ideas[0].title, "Idea 1: Registers");
    EXPECT_EQ(ideas[0].text, "Keep it.\n- one\n- two");
}

TEST(Ideas, ReasoningIsNoIdea)
{
    EXPECT_EQ(titlesOf(parseIdeas("<think>1. bad\n2. worse\n</think>\n- good: yes\n- fine: too\n")),
              "good | yes\nfine | too\n");
}

TEST(Ideas, NothingThere)
{
    EXPECT_TRUE(parseIdeas("").empty());
    EXPECT_TRUE(parseIdeas("I would rather not.").empty());
    EXPECT_TRUE(parseIdeas("{}").empty());
}
