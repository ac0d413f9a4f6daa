// SPDX-License-Identifier: Apache-2.0
// Questions 1, 2 and 4 of the spike: the border, the sandbox, and what a runner costs.
#include "tests/gpu/spike/spike_judge.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace spike {

namespace {

constexpr std::uint64_t elements = 4u << 20;

/// One kind of write, in a fresh runner; the judge must survive it and its data must stay.
void fault(Bench& bench, const char* name, Verb verb, std::uint32_t slot, std::int64_t offset, int expected)
{
    Buffer input = bench.allocate(elements * 4);
    Buffer output = bench.allocate(elements * 4);
    bench.fill(input, elements, 7);
    bench.poison(output);
    Peer peer;
    if (const std::string why = peer.prepare(bench); !why.empty()) {
        std::printf("fault %-28s NOT RUN: %s\n", name, why.c_str());
        return;
    }
    peer.map(bench, 0, input, false);
    peer.map(bench, 1, output, true);
    const Reply reply = peer.ask({.verb = verb, .slot = slot, .offset = offset});
    const std::uint64_t changed = bench.check(input, elements, 7, 0);
    std::printf("fault %-28s runner: %d %.60s | judge alive, changed input elements: %lu\n", name, reply.status,
                reply.text, changed);
    bench.expect(reply.status == expected && changed == 0, name);
}

struct Sandbox {
    const char* name;
    std::vector<std::string> words; ///< after bwrap's common part
};

std::vector<std::string> commonSandbox()
{
    std::vector<std::string> words = {
        "/usr/bin/bwrap", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent",
        "--new-session",  "--clearenv",    "--proc",        "/proc",         "--dev",         "/dev"};
    for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
        if (const std::string path = entry.path(); path.starts_with("/dev/nvidia") && !entry.is_directory()) {
            words.insert(words.end(), {"--dev-bind", path, path});
        }
    }
    for (const char* folder : {"/dev/shm", "/tmp", "/root", "/home"}) {
        words.insert(words.end(), {"--tmpfs", folder});
    }
    return words;
}

void bind(std::vector<std::string>& words, const std::string& from, const std::string& to)
{
    words.insert(words.end(), {"--ro-bind", from, to});
}

/// Only the files that a runner outside the sandbox has mapped, plus the driver's own folder.
std::vector<std::string> tightBinds(const std::string& mapped, const std::string& driverFolder)
{
    std::vector<std::string> words;
    std::istringstream lines(mapped);
    for (std::string file; std::getline(lines, file);) {
        if (file.starts_with("/usr/") || file.starts_with("/lib") || file.starts_with("/opt/")) {
            // The loader looks for the soname, here libstdc++.so.6 for libstdc++.so.6.0.33.
            std::string soname = file;
            if (const auto at = file.find(".so."); at != std::string::npos) {
                soname = file.substr(0, std::min(file.size(), file.find('.', at + 4)));
            }
            bind(words, file, soname);
        }
    }
    bind(words, "/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2");
    bind(words, driverFolder, driverFolder);
    return words;
}

void trySandbox(Bench& bench, const Sandbox& sandbox)
{
    std::vector<std::string> words = commonSandbox();
    words.insert(words.end(), sandbox.words.begin(), sandbox.words.end());
    const std::string cudart = runtimePath();
    const std::string driver = driverPath();
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    bind(words, self, "/runner");
    bind(words, cudart, "/cuda/libcudart.so.13");
    const std::string folder = std::filesystem::path(driver).parent_path().string();
    words.insert(words.end(), {"--setenv", "SPIKE_CUDART", "/cuda/libcudart.so.13", "--setenv", "ESPALIER_LIBCUDA",
                               driver, "--setenv", "LD_LIBRARY_PATH", folder, "--", "/runner"});
    const double begin = now();
    Peer peer(words);
    std::string why = peer.prepare(bench);
    const double ready = now() - begin;
    if (!why.empty()) {
        why += "(" + peer.ending() + ")";
    }
    Buffer input = bench.allocate(elements * 4);
    Buffer output = bench.allocate(elements * 4);
    bench.fill(input, elements, 9);
    bench.poison(output);
    int status = -1;
    std::uint64_t wrong = elements;
    if (why.empty()) {
        peer.map(bench, 0, input, false);
        peer.map(bench, 1, output, true);
        status = peer.ask({.verb = Verb::Block, .count = 1, .launch = 1, .elements = elements}).status;
        wrong = bench.check(output, elements, 9, 1);
    }
    std::printf("sandbox %-22s ready %.0f ms | %s | block status %d, wrong outputs %lu\n", sandbox.name, ready / 1000,
                why.empty() ? "CUDA works" : why.c_str(), status, wrong);
    bench.expect(status == 0 && wrong == 0, "a runner works in this sandbox");
}

} // namespace

void borderTests(Bench& bench)
{
    Buffer input = bench.allocate(elements * 4);
    Buffer output = bench.allocate(elements * 4);
    bench.fill(input, elements, 5);
    bench.poison(output);
    Peer peer;
    const std::string why = peer.prepare(bench);
    std::printf("bind to the real runtime, library as sealed memfd: %s\n", why.empty() ? "works" : why.c_str());
    peer.map(bench, 0, input, false);
    peer.map(bench, 1, output, true);
    const Reply first = peer.ask({.verb = Verb::Block, .count = 4, .launch = 1, .elements = elements});
    std::printf("first block: status %d, wrong outputs %lu, host %.0f us, events", first.status,
                bench.check(output, elements, 5, 1), first.hostMicroseconds);
    for (std::uint32_t i = 0; i < first.count; ++i) {
        std::printf(" %.1f", first.values[i]);
    }
    std::printf("\nfiles mapped in the runner:\n%s", peer.ask({.verb = Verb::Libraries}).text);

    bench.expect(why.empty() && first.status == 0, "a library bound to the real runtime computes on shared buffers");
    const Reply hostile = peer.ask({.verb = Verb::RemapWrite, .slot = 0});
    std::printf("hostile second mapping: map status %.0f, write status %d | regenerate and compare finds %lu changed\n",
                hostile.values[0], hostile.status, bench.check(input, elements, 5, 0));
    bench.expect(hostile.status != 0 || bench.check(input, elements, 5, 0) == 1, "a changed input is noticed");

    fault(bench, "kernel write to input", Verb::Poke, 0, 0, 700);
    fault(bench, "kernel write past output", Verb::Poke, 1, static_cast<std::int64_t>(elements) * 4, 700);
    fault(bench, "kernel write before output", Verb::Poke, 1, -4, 700);
    fault(bench, "copy engine write to input", Verb::CopyInto, 0, 0, 1);
    fault(bench, "memset write to input", Verb::MemsetInto, 0, 0, 1);
    fault(bench, "kernel write to output (ok)", Verb::Poke, 1, 0, 0);
}

void sandboxTests(Bench& bench)
{
    if (bubblewrapPath().empty()) {
        std::printf("sandbox: no bubblewrap here\n");
        return;
    }
    std::string mapped;
    {
        Peer peer;
        if (peer.prepare(bench).empty()) {
            mapped = peer.ask({.verb = Verb::Libraries}).text;
        }
    }
    const std::string driver = std::filesystem::path(driverPath()).parent_path().string();
    std::vector<std::string> system = {
        "--ro-bind", "/usr",      "/usr",   "--symlink",     "usr/lib",          "/lib",
        "--symlink", "usr/lib64", "/lib64", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"};
    if (!driver.starts_with("/usr/")) {
        bind(system, driver, driver);
    }
    const std::vector<std::string> tight = tightBinds(mapped, driver);
    trySandbox(bench, {"system folders", system});
    trySandbox(bench, {"only mapped files", tight});
    std::vector<std::string> user = tight;
    user.insert(user.begin(), {"--unshare-user", "--uid", "65534", "--gid", "65534"});
    trySandbox(bench, {"tight + user namespace", user});
    std::vector<std::string> caps = tight;
    caps.insert(caps.begin(), {"--cap-drop", "ALL"});
    trySandbox(bench, {"tight + no capability", caps});
    std::vector<std::string> sys = tight;
    sys.insert(sys.begin(), {"--ro-bind", "/sys", "/sys"});
    trySandbox(bench, {"tight + /sys", sys});
}

void costTests(Bench& bench)
{
    constexpr std::uint64_t gib = 1u << 30;
    std::vector<double> ready;
    for (int i = 0; i < 5; ++i) {
        const double begin = now();
        Peer peer;
        peer.prepare(bench);
        ready.push_back((now() - begin) / 1000);
    }
    std::sort(ready.begin(), ready.end());
    std::printf("fresh runner (driver, context, runtime, library): %.0f %.0f %.0f %.0f %.0f ms\n", ready[0], ready[1],
                ready[2], ready[3], ready[4]);
    double begin = now();
    Buffer a = bench.allocate(gib);
    Buffer b = bench.allocate(gib);
    std::printf("judge: create + map 1 GiB %.2f ms\n", (now() - begin) / 2000);
    begin = now();
    bench.fill(a, gib / 4, 3);
    std::printf("judge: fill 1 GiB %.2f ms", (now() - begin) / 1000);
    begin = now();
    bench.poison(b);
    std::printf(", poison %.2f ms", (now() - begin) / 1000);
    begin = now();
    bench.check(a, gib / 4, 3, 0);
    std::printf(", regenerate and compare %.2f ms\n", (now() - begin) / 1000);
    Peer peer;
    peer.prepare(bench);
    const Reply readOnly = peer.map(bench, 0, a, false);
    const Reply readWrite = peer.map(bench, 1, b, true);
    std::printf("runner: import + map 1 GiB: read-only %.2f ms, read-write %.2f ms\n", readOnly.values[0],
                readWrite.values[0]);
}

} // namespace spike
