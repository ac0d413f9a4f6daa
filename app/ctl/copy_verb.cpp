// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"
#include "core/store/store.h"

namespace espalier::ctl {

int copySession(const CopyVerb& options)
{
    if (const auto copied = Store::copy(options.session, options.file); !copied) {
        return failWith(copied.error(), options.json);
    }
    if (options.json) {
        printJson({{"session", options.session}, {"file", options.file}});
    } else {
        print(options.file);
    }
    return exitOk;
}

} // namespace espalier::ctl
