// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/propose/prompt/prompt_assembly.h"
#include "core/propose/prompt/prompt_template.h"
#include "core/propose/prompt/task_words.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Prompt, TheShippedOnesAreReadAndNameKnownChannels)
{
    for (const std::string& name : promptNames()) {
        const auto prompt = loadPrompt(name);
        ASSERT_TRUE(prompt) << prompt.error().message;
        EXPECT_EQ(prompt->hash.size(), 64u);
        EXPECT_FALSE(prompt->system.empty()) << name;
        EXPECT_FALSE(prompt->placeholders().empty()) << name;
    }
    const auto implement = loadPrompt("implement");
    EXPECT_NE(implement->system.find("// espalier: tune"), std::string::npos);
    EXPECT_NE(implement->user.find("exactly one fenced block"), std::string::npos);
}

TEST(Prompt, TheUsersOwnComesFirst)
{
    auto folder = ScratchFolder::create("prompts");
    ASSERT_TRUE(folder);
    const char* before = std::getenv("XDG_CONFIG_HOME");
    const std::string kept = before ? before : "";
    ::setenv("XDG_CONFIG_HOME", folder->path().c_str(), 1);
    ASSERT_TRUE(makeDirectories(configFolder() / "prompts"));
    ASSERT_TRUE(writeFileAtomically(configFolder() / "prompts" / "idea.md", "Mine.\n---\n{{task}}\nGo.\n"));
    const auto own = loadPrompt("idea");
    const auto shipped = loadPrompt("repair");
    ASSERT_TRUE(writeFileAtomically(configFolder() / "prompts" / "idea.md", "{{tusk}}\n"));
    const auto broken = loadPrompt("idea");
    before ? ::setenv("XDG_CONFIG_HOME", kept.c_str(), 1) : ::unsetenv("XDG_CONFIG_HOME");
    ASSERT_TRUE(own && shipped);
    EXPECT_EQ(own->system, "Mine.");
    EXPECT_EQ(own->user, "{{task}}\nGo.\n");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find("no channel \"tusk\""), std::string::npos) << broken.error().message;
}

TEST(Prompt, ChannelsWithoutATextVanish)
{
    EXPECT_EQ(filled("a\n{{task}}\n{{hints}}\nb {{count}} c\n", {{"task", "T"}, {"count", "3"}}), "a\nT\nb 3 c\n");
    // What a channel says is never read as a template.
    EXPECT_EQ(filled("{{task}}\n{{hints}}\n", {{"task", "{{hints}}"}, {"hints", "H"}}), "{{hints}}\nH\n");
    EXPECT_FALSE(parsePrompt("x", "x.md", "a {{task"));
    EXPECT_FALSE(parsePrompt("x", "x.md", "only a system message\n---\n"));
}

PromptChannel channel(std::string name, std::size_t bytes, int priority, bool required = false)
{
    return {.name = std::move(name),
            .text = std::string(bytes, 'x'),
            .required = required,
            .priority = priority,
            .shorter = {},
            .files = {}};
}

const PromptPart& partOf(const AssembledPrompt& prompt, const std::string& name)
{
    return *std::find_if(prompt.parts.begin(), prompt.parts.end(),
                         [&name](const PromptPart& part) { return part.channel == name; });
}

TEST(Prompt, WhatDoesNotFitIsTrimmedInOrderAndSaid)
{
    const auto prompt = parsePrompt("t", "t.md", "{{task}}\n{{tried}}\n{{hints}}\n{{lessons}}\n").value();
    std::vector<PromptChannel> channels = {channel("task", 330, 0, true), channel("tried", 3300, 40),
                                           channel("hints", 330, 90), channel("lessons", 3300, 30)};
    channels[1].shorter = {std::string(660, 'x')};
    const auto all = assemble(prompt, channels, {}, 10'000).value();
    EXPECT_TRUE(
        std::all_of(all.parts.begin(), all.parts.end(), [](const auto& p) { return p.sent && p.note.empty(); }));
    const auto tight = assemble(prompt, channels, {}, 500).value();
    EXPECT_LE(tight.tokens, 500);
    EXPECT_FALSE(partOf(tight, "lessons").sent);
    EXPECT_NE(partOf(tight, "lessons").note.find("left out: about 1000 tokens"), std::string::npos);
    EXPECT_TRUE(partOf(tight, "tried").sent);
    EXPECT_EQ(partOf(tight, "tried").note, "shortened from about 1000 to 200 tokens to fit the model's context");
    EXPECT_TRUE(partOf(tight, "hints").sent);
    const auto impossible = assemble(prompt, channels, {}, 50);
    ASSERT_FALSE(impossible);
    EXPECT_NE(impossible.error().message.find("the model takes 50"), std::string::npos);
}

TEST(Prompt, TheRuleSaysWhatMayBeSent)
{
    const auto prompt = parsePrompt("t", "t.md", "{{task}}\n{{attachments}}\n{{hints}}\n").value();
    std::vector<PromptChannel> channels = {channel("task", 10, 0, true), channel("attachments", 10, 10),
                                           channel("hints", 10, 90)};
    channels[1].files = {"secret.cu"};
    const auto usual = assemble(prompt, channels, {}, 1000).value();
    EXPECT_EQ(partOf(usual, "attachments").files, (std::vector<std::string>{"secret.cu"}));
    const auto without = assemble(prompt, channels, {{"task", "hints"}}, 1000).value();
    EXPECT_FALSE(partOf(without, "attachments").sent);
    EXPECT_TRUE(partOf(without, "attachments").files.empty());
    const auto named = assemble(prompt, channels, {{"task", "attachments"}}, 1000).value();
    EXPECT_EQ(partOf(named, "attachments").files, (std::vector<std::string>{"secret.cu"}));
    EXPECT_FALSE(partOf(named, "hints").sent);
    EXPECT_FALSE(assemble(prompt, channels, {{"hints"}}, 1000)); // without the task the question means nothing
}

TEST(Prompt, TheFirstErrorComesWithItsLines)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::BuildFailed;
    BuildRecord build;
    for (int i = 0; i < 5000; ++i) {
        build.messages.push_back({"candidate.cu", 8 + i, 3, i > 0, i > 1 ? "follows" : "expected a \";\""});
    }
    evaluation.build = build;
    std::string source;
    for (int line = 1; line <= 30; ++line) {
        source += "line " + std::to_string(line) + "\n";
    }
    const std::string words = firstErrorOf(evaluation, source);
    EXPECT_NE(words.find("candidate.cu:9:3: expected a \";\""), std::string::npos) << words;
    EXPECT_NE(words.find(">   9 | line 9\n"), std::string::npos) << words;
    EXPECT_NE(words.find("    4 | line 4\n"), std::string::npos);
    EXPECT_EQ(words.find("line 15"), std::string::npos);
    EXPECT_NE(words.find("4998 further errors"), std::string::npos);
    EXPECT_LT(words.size(), 2000u);
}

} // namespace
} // namespace espalier
