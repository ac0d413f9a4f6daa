// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/engine_harness.h"
#include "tests/support/scripted_model.h"

#include <gtest/gtest.h>

namespace espalier {

/// A whole search by language models: a scripted model behind the real proposer, the real store, fakes of compiler and
/// judge.
class ModelSearch : public testing::Test
{
protected:
    ModelSearch()
    {
        settings.ideas = 3;
        engine.options.proposers = {"llm"};
        engine.makeProposers = [this](const ProposerChoice& choice) -> Result<std::vector<std::unique_ptr<Proposer>>> {
            std::vector<std::unique_ptr<Proposer>> made;
            for (const std::string& name : choice.names) {
                if (name == "llm") {
                    made.push_back(scriptedProposer(world, settings, models));
                } else {
                    ESPALIER_TRY(auto others, makeProposers({name}));
                    made.push_back(std::move(others.front()));
                }
            }
            return made;
        };
    }

    /// Two ideas and a repetition; the first kernel does not compile and is mended, the second is fast.
    void script()
    {
        world.say("idea fake: root",
                  ideasAnswer({"keep rows in registers", "read wide vectors", "Keep the rows in registers"}));
        world.say("implement fake: keep rows in registers #0", kernelAnswer("fake regs build=failed \n"));
        world.say("repair fake: keep rows in registers #0 repair 1", kernelAnswer("fake mended time=60 \n"));
        world.say("implement fake: read wide vectors #0", kernelAnswer("fake wide time=40 \n"));
        world.say("idea fake: read wide vectors", ideasAnswer({"prefetch the next row"}));
        world.say("implement fake: prefetch the next row #0", kernelAnswer("fake prefetch outcome=incorrect \n"));
        world.say("repair fake: prefetch the next row #0 repair 1", kernelAnswer("fake again outcome=incorrect \n"));
        world.say("repair fake: prefetch the next row #0 repair 2", kernelAnswer("fake third time=30 \n"));
        world.say("idea fake: prefetch the next row (repair 2)", ideasAnswer({}));
        world.say("idea fake: prefetch the next row (repair 2) again", ideasAnswer({}));
    }

    void open() { ASSERT_TRUE(engine.open()); }

    std::vector<Exchange> stored() const
    {
        auto store = Store::open(engine.options.session, Store::Mode::ReadOnly).value();
        std::vector<Exchange> all;
        const auto found = store->exchanges().value();
        for (const Exchange& one : found) {
            all.push_back(*store->exchange(one.id).value());
        }
        return all;
    }

    EngineHarness engine;
    ModelWorld world;
    LlmSettings settings;
    std::vector<std::string> models = {"alpha"};
};

} // namespace espalier
