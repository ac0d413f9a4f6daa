// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/read_session.h"
#include "app/ctl/verbs.h"
#include "core/export/kernel_export.h"

namespace espalier::ctl {

namespace {

Result<ExportedFiles> exported(const ExportVerb& options)
{
    ESPALIER_TRY(const SessionReader reader, readSession(options.session));
    ESPALIER_TRY(const NodeDetail detail, reader.detail(NodeId{options.node}));
    ESPALIER_TRY(const Task task, reader.task());
    return exportKernel(
        {task, detail, reader.info(), options.form, options.folder, options.name, reader.driverOf(detail.summary)});
}

} // namespace

int exportNode(const ExportVerb& options)
{
    const auto files = exported(options);
    if (!files) {
        return failWith(files.error(), options.json);
    }
    if (!files->replaced.empty()) {
        note(files->replaced);
    }
    if (options.json) {
        printJson(
            {{"node", options.node}, {"form", options.form}, {"files", files->files}, {"replaced", files->replaced}});
    } else {
        for (const std::string& file : files->files) {
            print(file);
        }
    }
    return exitOk;
}

} // namespace espalier::ctl
