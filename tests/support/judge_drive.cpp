// SPDX-License-Identifier: Apache-2.0
#include "tests/support/judge_drive.h"

#include <fmt/format.h>
#include <poll.h>

namespace espalier::test {

Result<Library> builtFor(const JudgeHello& hello, const std::shared_ptr<const Task>& task, SourceRole role,
                         const std::string& source, const BuildPoolOptions& options)
{
    BuildJob job;
    job.task = task;
    job.role = role;
    job.source = source;
    job.architecture = hello.architecture;
    BuildResult result = buildNow(job, options);
    if (!result.library) {
        return fail(ErrorCode::InvalidInput, fmt::format("a source did not build: {}", result.evaluation.reason));
    }
    return std::move(*result.library);
}

Result<Evaluation> awaitVerdict(Evaluator& judge, EvaluationJob job)
{
    const RequestId id = job.id;
    judge.submit(std::move(job));
    for (;;) {
        pollfd polled = {judge.descriptor(), POLLIN, 0};
        ::poll(&polled, 1, judge.timeoutMilliseconds());
        for (evaluator::Event& event : judge.receive()) {
            if (auto* finished = std::get_if<evaluator::Finished>(&event); finished && finished->id == id) {
                return std::move(finished->evaluation);
            }
            if (auto* lost = std::get_if<evaluator::Lost>(&event)) {
                return std::unexpected(lost->error);
            }
        }
    }
}

} // namespace espalier::test
