// SPDX-License-Identifier: Apache-2.0
// Commands on their way through text: every one comes back as it was, and nothing that is no command gets through.
#include "core/engine/command_json.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace espalier {
namespace {

std::vector<command::Command> everyCommand()
{
    using namespace command;
    return {Run{},
            Run{Budget{.evaluations = 12, .seconds = 1.5, .usd = 2.25, .tokens = 9}},
            Pause{},
            Step{},
            Stop{},
            SetPinned{NodeId{3}, true},
            SetPruned{NodeId{4}, false},
            SetBoost{NodeId{5}, 0.1},
            EditIdea{NodeId{6}, "t\"itle", "line\none"},
            AddIdea{NodeId{7}, "t", ""},
            Inject{std::nullopt, "own", "__global__ void k() {}\n"},
            Inject{NodeId{8}, "own", "\xc3\xa4"},
            command::Overturn{NodeId{9}, true, "because"},
            Ask{NodeId{10}, "prompt", true},
            JudgeAgain{NodeId{11}, Again::Profile},
            AddHint{"hint"},
            RemoveHint{2},
            Attach{"name", "text"},
            Ban{"no fp16", "fp16_instructions == 0"},
            LiftBan{1},
            SetBranchBudget{NodeId{12}, {.evaluations = 3, .tokens = 4, .usd = 0.5, .seconds = 6}},
            SetBranchBudget{NodeId{13}, {}},
            ChangeBranchBudget{NodeId{13}, {.seconds = 6}, {"usd"}},
            SetBudget{Budget{.usd = 1}},
            ChangeBudget{Budget{.seconds = 4, .target = 2, .roofPercent = 10, .plateau = 5}, {"usd", "evaluations"}},
            SetStrategy{"beam:width=2"},
            CrossOver{NodeId{14}, NodeId{15}},
            Kill{NodeId{16}},
            Undo{},
            FetchExchanges{NodeId{17}},
            FetchDetail{NodeId{18}},
            FetchListings{NodeId{19}},
            Export{NodeId{20}, "cuda", "out"},
            Repro{NodeId{21}, "out"},
            ChangeProposers{{"llm"}, {"tuner", "playbook"}, {"{\"name\":\"small\"}"}, "{\"ideas\":4}"}};
}

TEST(CommandJson, EveryCommandComesBackAsItWas)
{
    std::set<std::size_t> kinds;
    for (const command::Command& command : everyCommand()) {
        kinds.insert(command.index());
        const std::string text = command::toJson(command).dump();
        const auto back = command::parseCommand(text);
        ASSERT_TRUE(back) << text << ": " << back.error().message;
        EXPECT_EQ(back->index(), command.index()) << text;
        EXPECT_EQ(command::toJson(*back).dump(), text);
        EXPECT_EQ(text.find('\n'), std::string::npos) << "a line is a command";
    }
    EXPECT_EQ(kinds.size(), std::variant_size_v<command::Command>) << "a command is missing in this test";
}

TEST(CommandJson, WhatIsNoCommandIsRefusedWithOneSentence)
{
    const auto sentence = [](std::string_view text) {
        const auto command = command::parseCommand(text);
        return command ? std::string("accepted") : command.error().message;
    };
    EXPECT_NE(sentence("{").find("command: line 1"), std::string::npos) << sentence("{");
    EXPECT_EQ(sentence("{}"), "command: command: this field is missing");
    EXPECT_EQ(sentence(R"({"command": "dance"})"),
              "command: command: expected a command such as \"prune\"; found \"dance\"");
    EXPECT_EQ(sentence(R"({"command": "kill"})"), "command: node: this field is missing");
    EXPECT_EQ(sentence(R"({"command": "kill", "node": 0})"),
              "command: node: expected a node's number, from 1; found 0");
    EXPECT_NE(sentence(R"({"command": "kill", "node": "5"})").find("command: node: expected"), std::string::npos);
    EXPECT_NE(sentence(R"({"command": "kill", "node": 5, "nodes": 6})").find("nodes: unknown field"),
              std::string::npos);
    EXPECT_NE(sentence(R"({"command": "budget", "budget": {"evals": 5}})").find("evals: unknown field"),
              std::string::npos);
    EXPECT_NE(sentence(R"({"command": "change-budget", "set": {}, "lift": ["evals"]})").find("found \"evals\""),
              std::string::npos);
    EXPECT_NE(sentence(R"({"command": "unhint", "number": 4294967297})").find("expected a number from 1"),
              std::string::npos);
}

/// Whatever bytes arrive, the answer is a command that can be written again, or a sentence.
TEST(CommandJson, MutatedLinesAreNeverMoreThanRefused)
{
    std::vector<std::string> lines;
    for (const command::Command& command : everyCommand()) {
        lines.push_back(command::toJson(command).dump());
    }
    std::mt19937 random(7);
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string line = lines[random() % lines.size()];
        for (unsigned edits = 1 + random() % 3; edits > 0 && !line.empty(); --edits) {
            const std::size_t at = random() % line.size();
            switch (random() % 4) {
            case 0:
                line[at] = static_cast<char>(random() % 256);
                break;
            case 1:
                line.erase(at, 1 + random() % 8);
                break;
            case 2:
                line.insert(at, lines[random() % lines.size()].substr(0, random() % 40));
                break;
            default:
                line.insert(at, 1, "{}[]\",:-0"[random() % 9]);
                break;
            }
        }
        const auto command = command::parseCommand(line);
        if (command) {
            ++accepted;
            const std::string text = command::toJson(*command).dump(-1, ' ', false, Json::error_handler_t::replace);
            ASSERT_TRUE(command::parseCommand(text)) << text;
        } else {
            ASSERT_FALSE(command.error().message.empty());
        }
    }
    EXPECT_GT(accepted, 100) << "edits inside of texts leave a command";
}

} // namespace
} // namespace espalier
