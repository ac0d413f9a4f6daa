// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/read_session.h"

#include "app/ctl/output.h"

namespace espalier::ctl {

Result<SessionReader> readSession(const std::string& file)
{
    Result<SessionReader> reader = SessionReader::open(file);
    if (reader && !reader->info().remark.empty()) {
        note(reader->info().remark);
    }
    return reader;
}

} // namespace espalier::ctl
