// SPDX-License-Identifier: Apache-2.0
// Candidates for y = 2x that run on the host, for the fake driver (its device memory is host memory with real
// protections). One library per CANDIDATE_KIND. They misbehave as candidates do; the judge's verdict is what the tests
// look at.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/ptrace.h>
#include <unistd.h>

#define KIND_honest 1
#define KIND_zero 2
#define KIND_partial 3
#define KIND_write_past_end 4
#define KIND_write_slack 5
#define KIND_write_before 6
#define KIND_read_past_end 7
#define KIND_write_input 8
#define KIND_endless 9
#define KIND_exit_zero 10
#define KIND_fork_bomb 11
#define KIND_abort 12
#define KIND_print_much 13
#define KIND_no_op 14
#define KIND_constructor_sleeps 15
#define KIND_error_code 16
#define KIND_workspace 17
#define KIND_workspace_overrun 18
#define KIND_workspace_huge 19
#define KIND_forged_reply 20
#define KIND_half_precision 21
#define KIND_wrong_name 22
#define KIND_nan 23
#define KIND_kills_itself 24
#define KIND_second_call_lazy 25
#define KIND_slow 26
#define KIND_host_computes 27
#define KIND_foreign_stream 28
#define KIND_foreign_tail 29
#define KIND_one_element_memo 30
#define KIND_keeps_answers 31
#define KIND_own_graph 32
#define KIND_graph_beside 33
#define KIND_refuses_capture 34
#define KIND_looks_into_processes 35
#define KIND_atomics 36
#define KIND_no_memory 37
#define KIND_eats_memory 38
#define KIND_updated_graph 39
#define KIND_tells_queues 40
#define KIND_graph_tells_queues 41
#define KIND_refused_launch 42
#define KIND_hides_time 43
#define KIND_JOIN2(a) KIND_##a
#define KIND_JOIN(a) KIND_JOIN2(a)
#define IS(kind) (KIND_JOIN(CANDIDATE_KIND) == KIND_##kind)

namespace {

void twice(const float* x, float* y, std::int64_t first, std::int64_t end)
{
    for (std::int64_t i = first; i < end; ++i) {
        y[i] = 2 * x[i];
    }
}

#if IS(constructor_sleeps)
struct Sleeper {
    Sleeper() { ::sleep(60); }
} sleeper;
#endif

} // namespace

#if IS(eats_memory)
extern "C" void fakeDriverFails(const char* function, int code);
#endif

#if IS(workspace) || IS(workspace_overrun) || IS(workspace_huge)
extern "C" std::size_t double_f32_workspace(std::int64_t n)
{
#if IS(workspace_huge)
    return std::size_t{1} << 60;
#else
    return static_cast<std::size_t>(n) * 4;
#endif
}
#endif

extern "C" {
void fakeDeviceWorks(unsigned microseconds);
struct Extent {
    unsigned x, y, z;
};
void __cudaRegisterFunction(void**, const char* host, char* device, const char* name, int, void*, void*, void*, void*,
                            int*);
int cudaLaunchKernel(const void* function, Extent grid, Extent block, void** args, std::size_t shared, void* stream);
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data);
int cudaStreamCreateWithFlags(void** stream, unsigned flags);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags);
int cudaGraphExecUpdate(void* executable, void* graph, void* told);
int cudaGraphDestroy(void* graph);
int cudaGraphLaunch(void* executable, void* stream);
}

namespace {

/// The arguments of one call.
struct Arguments {
    const float* x;
    float* y;
    std::int64_t n;
    void* workspace;
    std::size_t workspaceBytes;
};

/// What a kernel would do: it runs on the fake driver's stream.
void work(void* data)
{
    const auto [x, y, n, workspace, workspaceBytes] = *static_cast<const Arguments*>(data);
    (void)workspace;
    (void)workspaceBytes;
#if IS(zero)
    std::memset(y, 0, static_cast<std::size_t>(n) * 4);
#elif IS(partial)
    twice(x, y, 0, n - 1);
#elif IS(write_past_end)
    twice(x, y, 0, n);
    for (int i = 0; i < 1024; ++i) { // over the slack of an alignment into the guard
        y[n + i] = 1;
    }
#elif IS(write_slack)
    twice(x, y, 0, n);
    y[n] = 1;
#elif IS(write_before)
    twice(x, y, 0, n);
    y[-1] = 1;
#elif IS(read_past_end)
    float sum = 0;
    for (int i = 0; i < 1024; ++i) {
        sum += x[n + i];
    }
    twice(x, y, 0, n);
    y[0] = sum;
#elif IS(write_input)
    const_cast<float*>(x)[0] = 1;
    twice(x, y, 0, n);
#elif IS(keeps_answers) // right on every input, and slow on those that it has not seen
    constexpr int most = 64;
    static std::string inputs[most], outputs[most];
    static int next = 0;
    const std::size_t bytes = static_cast<std::size_t>(n) * 4;
    for (int i = 0; i < most; ++i) {
        if (inputs[i].size() == bytes && std::memcmp(inputs[i].data(), x, bytes) == 0) {
            std::memcpy(y, outputs[i].data(), bytes);
            return;
        }
    }
    twice(x, y, 0, n);
    fakeDeviceWorks(3000);
    inputs[next].assign(reinterpret_cast<const char*>(x), bytes);
    outputs[next].assign(reinterpret_cast<const char*>(y), bytes);
    next = (next + 1) % most;
#elif IS(no_op)
    (void)x;
    (void)y;
    (void)n;
#elif IS(workspace)
    auto* scratch = static_cast<float*>(workspace);
    twice(x, scratch, 0, n);
    std::memcpy(y, scratch, static_cast<std::size_t>(n) * 4);
#elif IS(workspace_overrun)
    twice(x, y, 0, n);
    static_cast<float*>(workspace)[n] = 1;
#elif IS(half_precision)
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        std::memcpy(&bits, x + i, 4);
        bits &= 0xFFFF0000U; // bf16
        float rounded;
        std::memcpy(&rounded, &bits, 4);
        y[i] = 2 * rounded;
    }
#elif IS(nan)
    twice(x, y, 0, n);
    y[n / 2] = __builtin_nanf("");
#elif IS(one_element_memo)
    // Keeps the last answer as long as the first element is the same.
    static float seen;
    static float kept[8192];
    if (n <= 8192 && std::memcmp(&seen, x, sizeof seen) != 0) {
        twice(x, kept, 0, n);
        seen = x[0];
    }
    std::memcpy(y, kept, static_cast<std::size_t>(n <= 8192 ? n : 8192) * 4);
#elif IS(slow)
    twice(x, y, 0, n);
    fakeDeviceWorks(3000);
    ::usleep(3000); // a server's latencies are by the machine's clock
#elif IS(hides_time)
    twice(x, y, 0, n);
    fakeDeviceWorks(50); // too long for a graph, whose replays would hide nothing
#elif IS(atomics) // as where atomics come in another order: right within the bound, and other last bits in every call
    static std::uint32_t calls = 0;
    ++calls;
    twice(x, y, 0, n);
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        std::memcpy(&bits, y + i, 4);
        bits ^= (static_cast<std::uint32_t>(i) + calls) % 3 == 0 ? 1U : 0U;
        std::memcpy(y + i, &bits, 4);
    }
#else
    twice(x, y, 0, n);
#endif
}

#if IS(hides_time)
/// On no stream of the call's: nothing of the answer, and a long time that its events do not see.
void idle(void*)
{
    fakeDeviceWorks(3000);
}
#endif

#if IS(own_graph) || IS(updated_graph) || IS(graph_beside) || IS(graph_tells_queues)
/// Recorded on a stream of its own, launched on the given one; `executable`: made, or updated where there is one.
int launchAsGraph(void (*function)(void*), void* data, void* stream, void*& executable)
{
    void *recorder = nullptr, *graph = nullptr;
    int status = cudaStreamCreateWithFlags(&recorder, 1);
    status = status ? status : cudaStreamBeginCapture(recorder, 1);
    status = status ? status : cudaLaunchHostFunc(recorder, function, data);
    status = status ? status : cudaStreamEndCapture(recorder, &graph);
    status = status       ? status
             : executable ? cudaGraphExecUpdate(executable, graph, nullptr)
                          : cudaGraphInstantiate(&executable, graph, 0);
    status = status ? status : cudaGraphDestroy(graph);
    return status ? status : cudaGraphLaunch(executable, stream);
}
#endif

} // namespace

#if IS(wrong_name)
extern "C" int doubled_f32(const float* x, float* y, std::int64_t n, void* workspace, std::size_t workspaceBytes,
                           void* stream)
#else
extern "C" int double_f32(const float* x, float* y, std::int64_t n, void* workspace, std::size_t workspaceBytes,
                          void* stream)
#endif
{
    auto* arguments = new Arguments{x, y, n, workspace, workspaceBytes}; // a captured graph keeps it
#if IS(tells_queues) || IS(graph_tells_queues)
    const char* queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    std::printf("queues: %s\n", queues ? queues : "as ever");
    std::fflush(stdout);
#endif
#if IS(endless)
    for (volatile int i = 0;; ++i) {
    }
#elif IS(exit_zero)
    std::exit(0);
#elif IS(fork_bomb)
    for (int i = 0; i < 100; ++i) {
        if (::fork() == 0) {
            ::sleep(60);
            ::_exit(0);
        }
    }
#elif IS(looks_into_processes)
    ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr);
#elif IS(abort)
    std::abort();
#elif IS(print_much)
    static const std::string line(1 << 20, 'x');
    for (int i = 0; i < 50; ++i) { // two calls or more: 100 MB
        std::fwrite(line.data(), 1, line.size(), stdout);
    }
    std::fflush(stdout);
#elif IS(error_code)
    return 1;
#elif IS(refused_launch)
    static char kernel[] = "_Z5twicePKfPfl";
    static char stub;
    __cudaRegisterFunction(nullptr, &stub, kernel, kernel, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    return cudaLaunchKernel(&stub, {8, 1, 1}, {64, 32, 1}, nullptr, 0, stream);
#elif IS(no_memory)
    return 2; // cudaErrorMemoryAllocation
#elif IS(eats_memory) // what the runner asks of the driver behind the call finds none left
    fakeDriverFails("cuStreamSynchronize", 2);
#elif IS(workspace)
    if (workspaceBytes < static_cast<std::size_t>(n) * 4) {
        return 2;
    }
#elif IS(forged_reply)
    const char forged[] = "this is no reply, but it passed";
    (void)!::write(3, forged, sizeof forged);
#elif IS(kills_itself)
    ::kill(::getpid(), 9);
    return 0;
#elif IS(second_call_lazy)
    static int calls = 0;
    if (++calls % 2 == 0) {
        return 0;
    }
#elif IS(host_computes)
    work(arguments);
    return 0;
#elif IS(foreign_stream)
    return cudaLaunchHostFunc(nullptr, work, arguments);
#elif IS(foreign_tail)
    auto* tail = new Arguments{x + n - 1, y + n - 1, 1, nullptr, 0};
    arguments->n = n - 1;
    cudaLaunchHostFunc(nullptr, work, tail);
#elif IS(hides_time)
    cudaLaunchHostFunc(nullptr, idle, nullptr);
#elif IS(own_graph) || IS(updated_graph) || IS(graph_tells_queues)
    static void* kept = nullptr;
    void* fresh = nullptr;
    return launchAsGraph(work, arguments, stream, IS(updated_graph) ? kept : fresh);
#elif IS(graph_beside) // the graph does nothing; what is done, the host does
    work(arguments);
    void* nothing = nullptr;
    return launchAsGraph([](void*) {}, nullptr, stream, nothing);
#elif IS(refuses_capture)
    static bool ran;
    ran = false;
    cudaLaunchHostFunc(stream, [](void*) { ran = true; }, nullptr);
    if (!ran) {
        return 900; // cudaErrorStreamCaptureUnsupported
    }
#endif
    return cudaLaunchHostFunc(stream, work, arguments);
}
