// SPDX-License-Identifier: Apache-2.0
#include "core/judge/counter_lock.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace espalier::judge {

Result<CounterLock> CounterLock::take(const std::string& uuid, std::chrono::milliseconds patience)
{
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    const std::string path = (folder / fmt::format("espalier-counters-{}.lock", uuid.empty() ? "gpu" : uuid)).string();
    constexpr mode_t everybody = 0666;
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, everybody));
    if (!file) {
        return CounterLock(UniqueFd());
    }
    ::fchmod(file.get(), everybody); // whatever the umask: another user's judge takes the same one
    const auto end = std::chrono::steady_clock::now() + patience;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (std::chrono::steady_clock::now() >= end) {
            return fail(ErrorCode::Busy,
                        "another Espalier on this machine reads the counters of this GPU; profile again "
                        "when it is done");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return CounterLock(std::move(file));
}

} // namespace espalier::judge
