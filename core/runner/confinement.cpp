// SPDX-License-Identifier: Apache-2.0
#include "core/runner/confinement.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace espalier::runner {

void limitResources()
{
    constexpr rlim_t fileBytes = rlim_t{64} << 20;
    constexpr rlim_t dataBytes = rlim_t{32}
                                 << 30; // private writable memory; device mappings and reservations do not count
    const rlimit none = {0, 0};
    const rlimit files = {fileBytes, fileBytes};
    const rlimit data = {dataBytes, dataBytes};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &files);
    ::setrlimit(RLIMIT_DATA, &data);
}

namespace {

constexpr std::uint32_t argumentLow(int index)
{
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8U * static_cast<std::uint32_t>(index);
}

} // namespace

Result<void> forbidNewProcesses()
{
    // clone is allowed for threads only; clone3 hides its flags behind a pointer, so it "does not exist" and libc falls
    // back to clone.
    std::array filter = {
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)),
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 11, 0)), // the x32 numbers
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 10, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 9, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 8, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 7, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 6, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setns, 5, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 4, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0)),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4)),
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argumentLow(0))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 0)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
    };
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        return fail(ErrorCode::Internal,
                    fmt::format("the kernel refuses to forbid new processes: {}", std::strerror(errno)));
    }
    return {};
}

} // namespace espalier::runner
