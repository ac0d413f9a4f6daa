// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/proposer.h"

#include <utility>
#include <vector>

namespace espalier {

/// A proposer whose answers are plain functions of the question: subclasses state those two, the queue is here.
class InstantProposer : public Proposer
{
public:
    void ideas(RequestId id, const IdeaContext& context) final
    {
        m_answers.push_back(proposer::Ideas{id, offer(context)});
    }
    void implement(RequestId id, const ImplementContext& context) final
    {
        proposer::Implementation answer = write(context);
        answer.id = id;
        m_answers.push_back(std::move(answer));
    }
    void cancel(RequestId id) final
    {
        std::erase_if(m_answers, [id](const proposer::Answer& answer) {
            return std::visit([id](const auto& a) { return a.id == id; }, answer);
        });
    }
    std::vector<proposer::Answer> receive() final { return std::exchange(m_answers, {}); }

protected:
    virtual std::vector<ProposedIdea> offer(const IdeaContext& context) const = 0;
    virtual proposer::Implementation write(const ImplementContext& context) const = 0;

private:
    std::vector<proposer::Answer> m_answers;
};

} // namespace espalier
