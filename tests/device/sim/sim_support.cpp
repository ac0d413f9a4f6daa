// SPDX-License-Identifier: Apache-2.0
#include "tests/device/sim/sim_support.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <unistd.h>

namespace espalier::sim {

std::string fixture(std::string_view name)
{
    std::ifstream file(std::string(ESPALIER_SIM_FIXTURES "/") + std::string(name));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string compiledNow(std::string_view name)
{
    const std::filesystem::path out =
        std::filesystem::temp_directory_path() / fmt::format("espalier_sim_{}_{}.ptx", getpid(), name);
    const std::string command = fmt::format("\"{}\" -ptx -std=c++17 -arch=compute_90a -lineinfo -w -o \"{}\" "
                                            "\"" ESPALIER_SIM_FIXTURES "/{}.cu\"",
                                            ESPALIER_NVCC, out.string(), name);
    if (std::system(command.c_str()) != 0) {
        ADD_FAILURE() << command;
        return {};
    }
    std::ifstream file(out);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(out);
    return text;
}

SimFixture::SimFixture(std::string_view ptx)
{
    auto parsed = PtxModule::parse(ptx);
    if (!parsed) {
        ADD_FAILURE() << parsed.error().message;
        return;
    }
    m_module = *parsed;
    for (const ModuleVariable& variable : m_module->variables()) {
        std::vector<std::byte>& bytes = m_variables.emplace_back(std::max<std::size_t>(variable.bytes, 1));
        std::copy(variable.initial.begin(), variable.initial.end(), bytes.begin());
        m_symbols[variable.name] = add(bytes.data(), bytes.size(), "__device__ " + variable.name,
                                       variable.constant ? Access::ReadOnly : Access::ReadWrite);
    }
    std::size_t number = 0;
    for (const ModuleVariable& variable : m_module->variables()) {
        for (const ModuleVariable::Address& address : variable.addresses) {
            const std::uint64_t value = m_symbols[address.symbol] + static_cast<std::uint64_t>(address.addend);
            std::memcpy(m_variables[number].data() + address.offset, &value, 8);
        }
        ++number;
    }
}

std::uint64_t SimFixture::add(std::byte* host, std::uint64_t bytes, std::string name, Access access)
{
    const std::uint64_t base = m_next;
    m_next += (bytes + 0x1FFFF) / 0x10000 * 0x10000 + 0x10000;
    m_memory.add({base, bytes, host, access, std::move(name)});
    return base;
}

std::byte* SimFixture::variable(std::string_view name)
{
    const auto address = m_symbols.find(name);
    return address == m_symbols.end() ? nullptr : m_memory.find(address->second, 1)->host;
}

LaunchResult SimFixture::runPacked(std::string_view kernel, Dim3 grid, Dim3 block, std::uint32_t shared,
                                   const std::vector<std::vector<std::byte>>& args)
{
    const KernelFacts* facts = m_module ? m_module->facts(kernel) : nullptr;
    if (!facts || !facts->unsupported.empty() || facts->params.size() != args.size()) {
        const std::string why = !facts                       ? "no such kernel"
                                : facts->unsupported.empty() ? "arguments"
                                                             : facts->unsupported[0];
        ADD_FAILURE() << kernel << ": " << why;
        LaunchResult result;
        result.fault = Fault{FaultKind::Trap, "not run: " + why, {}, 0};
        return result;
    }
    std::vector<std::byte> params(facts->paramBytes);
    for (std::size_t i = 0; i < args.size(); ++i) {
        EXPECT_EQ(args[i].size(), facts->params[i].bytes) << "argument " << i << " of " << kernel;
        std::memcpy(params.data() + facts->params[i].offset, args[i].data(),
                    std::min<std::size_t>(args[i].size(), facts->params[i].bytes));
    }
    return launch(*m_module, *facts, {grid, block, shared, params}, m_memory, m_symbols, limits);
}

SimFixture& shared(std::string_view name)
{
    static std::map<std::string, SimFixture, std::less<>> made;
    const auto known = made.find(name);
    return known != made.end() ? known->second : made.try_emplace(std::string(name), compiledNow(name)).first->second;
}

std::string snippet(std::string_view body)
{
    return fmt::format(R"(.version 9.0
.target sm_90a
.address_size 64
.global .align 8 .b8 numbers[16] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
.visible .entry t(.param .u64 out)
{{
    .reg .pred %p<10>;
    .reg .b16 %rs<20>;
    .reg .b32 %r<20>;
    .reg .f32 %f<20>;
    .reg .b64 %rd<20>;
    .reg .f64 %fd<20>;
    ld.param.u64 %rd0, [out];
    cvta.to.global.u64 %rd0, %rd0;
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %rd0, %r0, 8, %rd0;
{}
    ret;
}}
)",
                       body);
}

std::vector<std::uint64_t> runSnippet(std::string_view body)
{
    SimFixture sim(snippet(body));
    std::vector<std::uint64_t> out(32, 0);
    const std::uint64_t address = sim.buffer(out, "output");
    const LaunchResult result = sim.run("t", {1, 1, 1}, {32, 1, 1}, 0, address);
    if (!result.fault)
        return out;
    ADD_FAILURE() << result.fault->sentence << " in\n" << body;
    return std::vector<std::uint64_t>(32, 0xDEADBEEF);
}

} // namespace espalier::sim
