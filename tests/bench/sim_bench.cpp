// SPDX-License-Identifier: Apache-2.0
// Thread-instructions a second of the PTX interpreter on one core, kernel by kernel.
// sim_bench [seconds per kernel]
#include "core/device/sim/interpreter.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace espalier;
using namespace espalier::sim;

struct Bench {
    const char* file;
    const char* kernel;
    Dim3 grid, block;
    int buffers; ///< of `elements` floats each
    std::size_t elements;
    std::vector<std::int64_t> scalars; ///< after the buffers, in the width the kernel takes
};

bool runBench(const Bench& bench, double seconds)
{
    std::ifstream file(std::string(ESPALIER_SIM_FIXTURES "/") + bench.file);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto module = PtxModule::parse(text);
    const KernelFacts* facts = module ? (*module)->facts(bench.kernel) : nullptr;
    if (!facts || !facts->unsupported.empty()) {
        std::fprintf(stderr, "%s: cannot be decoded\n", bench.kernel);
        return false;
    }
    AddressSpace memory;
    std::vector<std::vector<float>> buffers(static_cast<std::size_t>(bench.buffers));
    std::vector<std::byte> params(facts->paramBytes);
    std::uint64_t base = 0x7F0000000000;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i].resize(bench.elements);
        for (std::size_t k = 0; k < bench.elements; ++k)
            buffers[i][k] = static_cast<float>(k % 1013) * 0.01f;
        memory.add(
            {base, bench.elements * 4, reinterpret_cast<std::byte*>(buffers[i].data()), Access::ReadWrite, "buffer"});
        std::memcpy(params.data() + facts->params[i].offset, &base, 8);
        base += (bench.elements * 4 + 0xFFFFF) / 0x100000 * 0x100000 + 0x100000;
    }
    for (std::size_t i = 0; i < bench.scalars.size(); ++i) {
        const KernelParam& param = facts->params[buffers.size() + i];
        std::memcpy(params.data() + param.offset, &bench.scalars[i], param.bytes);
    }
    const std::clock_t start = std::clock(); // of this process: other work on the machine does not count
    std::uint64_t instructions = 0;
    double took = 0;
    while (took < seconds) {
        const LaunchResult result = launch(**module, *facts, {bench.grid, bench.block, 0, params}, memory, {}, {});
        if (result.fault) {
            std::fprintf(stderr, "%s\n", result.fault->sentence.c_str());
            return false;
        }
        instructions += result.counters.threadInstructions;
        took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    std::printf("%-20s %8.1f million thread-instructions/s\n", bench.kernel,
                static_cast<double>(instructions) / took / 1e6);
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
    const Bench benches[] = {
        {"softmax.ptx", "softmax_naive", {8, 1, 1}, {32, 1, 1}, 2, 256 * 1024, {256, 1024}},
        {"softmax.ptx", "softmax_block", {256, 1, 1}, {256, 1, 1}, 2, 256 * 1024, {256, 1024}},
        {"softmax.ptx", "softmax_online", {256, 1, 1}, {256, 1, 1}, 2, 256 * 1024, {256, 1024}},
        {"softmax.ptx", "softmax_float4", {256, 1, 1}, {128, 1, 1}, 2, 256 * 1024, {256, 1024}},
        {"softmax.ptx", "copy_coalesced", {256, 1, 1}, {256, 1, 1}, 2, 256 * 1024, {256, 1024}},
        {"matmul.ptx", "matmul_naive", {16, 16, 1}, {16, 16, 1}, 3, 256 * 256, {256}},
        {"matmul.ptx", "matmul_tiled", {16, 16, 1}, {16, 16, 1}, 3, 256 * 256, {256}},
        {"matmul.ptx", "matmul_registers", {4, 4, 1}, {256, 1, 1}, 3, 256 * 256, {256}},
        {"matmul.ptx", "matmul_async", {16, 16, 1}, {16, 16, 1}, 3, 256 * 256, {256}},
    };
    bool good = true;
    for (const Bench& bench : benches)
        good = runBench(bench, seconds) && good;
    return good ? 0 : 1;
}
