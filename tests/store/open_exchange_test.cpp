// SPDX-License-Identifier: Apache-2.0
// Questions without an answer, over the end of the process that asked them.
#include "core/base/file.h"
#include "core/store/store.h"

#include <gtest/gtest.h>

using namespace espalier;

TEST(OpenExchange, StaysOpenWhereNobodyBillsAndIsLostElsewhere)
{
    const auto folder = std::move(*ScratchFolder::create("espalier-open-exchange"));
    const auto file = folder.path() / "s.espalier";
    SessionInfo info;
    info.taskId = "softmax_f32";
    auto store = Store::create(file, info).value();
    const auto ask = [&store](const std::string& key, const std::string& provider, const std::string& prompt) {
        Exchange exchange;
        exchange.node = NodeId{1};
        exchange.key = key;
        exchange.provider = provider;
        exchange.prompt = prompt;
        exchange.id = store->addExchange(exchange).value();
        return exchange;
    };
    ask("person", "manual", "to a person");
    ask("program", "command", "to a program");
    ask("server", "anthropic", "to a server");
    Exchange answered = ask("settled", "openai", "at first");
    answered.state = Exchange::State::Lost;
    ASSERT_TRUE(store->updateExchange(answered));
    answered = ask("settled", "openai", "once more");
    answered.state = Exchange::State::Answered;
    ASSERT_TRUE(store->updateExchange(answered));
    store.reset();
    store = Store::open(file, Store::Mode::ReadWrite).value();
    const auto unanswered = [&store](const char* key) { return store->unansweredExchange(key).value(); };
    ASSERT_TRUE(unanswered("person") && unanswered("program") && unanswered("server"));
    EXPECT_EQ(unanswered("person")->state, Exchange::State::Sent);
    EXPECT_EQ(unanswered("person")->prompt, "to a person");
    EXPECT_EQ(unanswered("program")->state, Exchange::State::Sent);
    EXPECT_EQ(unanswered("server")->state, Exchange::State::Lost);
    EXPECT_EQ(unanswered("server")->prompt, "to a server");
    EXPECT_FALSE(unanswered("settled")) << "what was lost was answered later";
    EXPECT_FALSE(unanswered("never asked"));
}
