// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/read_session.h"
#include "app/ctl/verbs.h"
#include "core/base/file.h"
#include "core/export/repro_program.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

Result<std::string> programFor(const ReproVerb& options)
{
    ESPALIER_TRY(const SessionReader reader, readSession(options.session));
    ESPALIER_TRY(const NodeDetail detail, reader.detail(NodeId{options.node}));
    ESPALIER_TRY(const Task task, reader.task());
    return reproProgram({task, detail, options.caseId, options.seed});
}

} // namespace

int repro(const ReproVerb& options)
{
    const auto program = programFor(options);
    if (!program) {
        return failWith(program.error(), options.json);
    }
    if (options.file.empty()) {
        print(*program);
        return exitOk;
    }
    if (const auto written = writeFileAtomically(options.file, *program); !written) {
        return failWith(written.error(), options.json);
    }
    if (options.json) {
        printJson({{"node", options.node}, {"file", options.file}});
    } else {
        print(fmt::format("{}\nIts first lines say how it is built and what it understands.", options.file));
    }
    return exitOk;
}

} // namespace espalier::ctl
