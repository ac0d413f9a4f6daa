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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

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
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // their shadow memory alone is larger
    ::setrlimit(RLIMIT_DATA, &data);
#else
    (void)data;
#endif
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
    constexpr std::array deadly = {
        SYS_fork,        SYS_vfork, SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_pidfd_getfd, SYS_kcmp};
    // What neither a kernel's host code nor CUDA's user-space driver needs once the device is open, but what has led
    // out of sandboxes: refused, so that a library that merely asks goes on. Left alone on purpose: ioctl, mmap, futex,
    // eventfd, memfd_create, sockets of the local family and scheduling, which the driver uses.
    constexpr std::array refused = {SYS_setns,
                                    SYS_unshare,
                                    SYS_mount,
                                    SYS_umount2,
                                    SYS_pivot_root,
                                    SYS_chroot,
                                    SYS_open_tree,
                                    SYS_move_mount,
                                    SYS_fsopen,
                                    SYS_fsmount,
                                    SYS_mount_setattr,
                                    SYS_bpf,
                                    SYS_perf_event_open,
                                    SYS_userfaultfd,
                                    SYS_keyctl,
                                    SYS_add_key,
                                    SYS_request_key,
                                    SYS_io_uring_setup,
                                    SYS_io_uring_enter,
                                    SYS_io_uring_register,
                                    SYS_name_to_handle_at,
                                    SYS_open_by_handle_at,
                                    SYS_kexec_load,
                                    SYS_kexec_file_load,
                                    SYS_init_module,
                                    SYS_finit_module,
                                    SYS_delete_module,
                                    SYS_pidfd_send_signal,
                                    SYS_process_madvise,
                                    SYS_fanotify_init,
                                    SYS_quotactl,
                                    SYS_swapon,
                                    SYS_swapoff,
                                    SYS_reboot,
                                    SYS_sethostname,
                                    SYS_setdomainname,
                                    SYS_settimeofday,
                                    SYS_clock_settime,
                                    SYS_adjtimex,
                                    SYS_clock_adjtime,
                                    SYS_acct,
                                    SYS_syslog,
                                    SYS_iopl,
                                    SYS_ioperm};
    std::vector<sock_filter> filter = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1), // the x32 numbers
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const auto answer = [&filter](long number, std::uint32_t action) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, action));
    };
    for (const long number : deadly) {
        answer(number, SECCOMP_RET_KILL_PROCESS);
    }
    for (const long number : refused) {
        answer(number, SECCOMP_RET_ERRNO | EPERM);
    }
    const auto theRest = std::to_array<sock_filter>({
        // No socket but of the local family: also where there is no network name space.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argumentLow(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argumentLow(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    });
    filter.insert(filter.end(), theRest.begin(), theRest.end());
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        return fail(ErrorCode::Internal,
                    fmt::format("the kernel refuses to forbid new processes: {}", std::strerror(errno)));
    }
    return {};
}

} // namespace espalier::runner
