// SPDX-License-Identifier: Apache-2.0
// Broken PTX must give an error or an unsupported kernel, never a crash; what still decodes must run to an end.
#include "tests/device/sim/sim_support.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

namespace espalier::sim {
namespace {

class Mutator
{
public:
    explicit Mutator(unsigned seed) : m_random(seed) {}

    std::string mutate(std::string text, const std::string& other)
    {
        const unsigned times = 1 + pick(6);
        for (unsigned i = 0; i < times; ++i)
            once(text, other);
        return text;
    }
    unsigned pick(std::size_t below) { return below == 0 ? 0 : static_cast<unsigned>(m_random() % below); }

private:
    /// Offsets of a word of the text.
    std::pair<std::size_t, std::size_t> word(const std::string& text)
    {
        const std::size_t at = text.find_first_not_of(" \t\n,;", pick(text.size()));
        if (at == std::string::npos)
            return {0, 0};
        const std::size_t end = std::min(text.find_first_of(" \t\n,;", at), text.size());
        return {at, end - at};
    }
    void once(std::string& text, const std::string& other)
    {
        if (text.size() < 8)
            return;
        const auto [at, length] = word(text);
        const auto [from, count] = word(other);
        switch (pick(8)) {
        case 0:
            text[pick(text.size())] = static_cast<char>(m_random());
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.replace(at, length, other.substr(from, count));
            break;
        case 3:
            text.insert(at, other.substr(from, 200));
            break;
        case 4:
            text.resize(pick(text.size()));
            break;
        case 5:
            text.erase(pick(text.size()), 1 + pick(100));
            break;
        case 6:
            text.replace(at, length, std::to_string(m_random()));
            break;
        default:
            text.insert(pick(text.size()), 1, "{}[]();,.+-@!|<>:%\"*/"[pick(21)]);
            break;
        }
    }
    std::mt19937_64 m_random;
};

/// One kernel of a fixture with what it needs: short texts make mutations hit something.
std::vector<std::string> seeds()
{
    std::vector<std::string> made;
    for (const char* name : {"softmax.ptx", "matmul.ptx", "mixed.ptx"}) {
        const std::string text = fixture(name);
        const std::string head = text.substr(0, text.find("// .globl"));
        for (std::size_t at = text.find("\n.visible .entry"); at != std::string::npos;) {
            const std::size_t next = text.find("\n.visible .entry", at + 1);
            const std::size_t end = std::min({next, text.find("\n\t.file", at), text.size()});
            made.push_back(head + text.substr(at, end - at));
            at = next;
        }
    }
    made.push_back(snippet("shfl.sync.up.b32 %r1|%p1, %r0, 1, 0, -1;\n atom.global.cas.b32 %r2, [%rd0], 0, 1;\n"
                           "ts: .branchtargets a, b;\n brx.idx %r1, ts;\n a: cvt.rn.f16.f32 %rs1, %f1;\n b:"));
    made.push_back(
        snippet(".reg.b16 %h<4>;\n .shared.align 16 .b8 tile[256];\n .shared .align 8 .b64 bar;\n"
                "mov.u32 %r1, tile;\n mov.u32 %r2, bar;\n mbarrier.init.shared::cta.b64 [%r2], 1;\n"
                "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r2], 64;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 64, [%r2];\n"
                "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;\n"
                "mbarrier.test_wait.shared.b64 %p2, [bar], %rd1;\n"
                "mbarrier.pending_count.b64 %r3, %rd1;\n mbarrier.arrive_drop.shared.b64 _, [%r2], 2;\n"
                "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 16;\n"
                "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n mbarrier.inval.shared.b64 [%r2];\n"));
    made.push_back(snippet("cvt.rn.satfinite.relu.e4m3x2.f32 %rs1, %f1, %f2;\n cvt.rn.f16x2.e5m2x2 %r1, %rs1;\n"
                           "cvt.rz.satfinite.bf16x2.f32 %r2, %f1, %f2;\n set.gtu.u32.f16x2 %r3, %r1, %r2;\n"
                           "vabsdiff4.u32.u32.u32.add %r4, %r1, %r2, %r3;\n vset2.s32.u32.lt %r5, %r1, %r2, 0;\n"
                           "vadd4.s32.s32.u32.sat %r6, %r1, %r2, 0;\n max.s16x2.relu %r7, %r1, %r2;\n"
                           "min.NaN.xorsign.abs.bf16x2 %r8, %r1, %r2;\n mov.b16 {%rs2, %rs3}, %rs1;\n"
                           "atom.global.add.v2.f32 {%f3, %f4}, [%rd0], {%f1, %f2};\n"
                           "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n"
                           "mapa.shared::cluster.u32 %r9, %r1, %r2;\n mov.u32 %r10, %envreg3;\n") +
                   ".section .debug_str\n{\n$name:\n.b8 95,90,49,102,118,0\n}\n");
    made.push_back(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {\n .loc 2 7 1, function_name $name, "
        "inlined_at 1 3 5\n wmma.sync;\n .loc 3 8 2, function_name $name+4, inlined_at 2 7 1\n"
        " tcgen05.mma;\n ret;\n}\n.file 1 \"a.cu\"\n.section .debug_str { $name: .b8 95,90,49,102,118,0 }\n");
    return made;
}

void runAll(const PtxModule& module)
{
    std::vector<std::byte> memory(1 << 16);
    AddressSpace space;
    space.add({0x10000, memory.size(), memory.data(), Access::ReadWrite, "memory"});
    SymbolTable symbols;
    for (const ModuleVariable& variable : module.variables())
        symbols[variable.name] = 0x10100;
    for (const KernelFacts& facts : module.kernels()) {
        if (!facts.unsupported.empty() || facts.staticSharedBytes > (1u << 16) || facts.localBytes > (1u << 14))
            continue;
        std::vector<std::byte> params(facts.paramBytes);
        for (const KernelParam& param : facts.params) {
            const std::uint64_t value = param.bytes == 8 ? 0x10200 : 33;
            std::memcpy(params.data() + param.offset, &value, std::min(param.bytes, 8u));
        }
        launch(module, facts, {{2, 1, 1}, {48, 1, 1}, 256, params}, space, symbols, {100'000, nullptr});
    }
}

TEST(PtxFuzz, MutationsNeverCrash)
{
    const std::vector<std::string> texts = seeds();
    ASSERT_GT(texts.size(), 20u);
    Mutator mutator(20261129);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(25);
    int parsed = 0, refused = 0;
    for (int round = 0; round < 4000 && std::chrono::steady_clock::now() < deadline; ++round) {
        const std::string& text = texts[mutator.pick(texts.size())];
        const auto module = PtxModule::parse(mutator.mutate(text, texts[mutator.pick(texts.size())]));
        if (!module) {
            EXPECT_TRUE(module.error().message.starts_with("line ")) << module.error().message;
            ++refused;
            continue;
        }
        ++parsed;
        runAll(**module);
    }
    EXPECT_GT(parsed, 50);
    EXPECT_GT(refused, 50);
}

TEST(PtxFuzz, AbsurdTexts)
{
    const std::string deep(100'000, '{');
    const std::string head = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {\n";
    for (const std::string& text :
         {std::string(), std::string(".version"), head, head + deep, head + "ld.u32 %r, " + std::string(100'000, '['),
          head + ".reg .b32 %r<4000000000>;\n mov.u32 %r3999999999, 1; ret; }",
          head + ".local .b8 x[2000000000]; mov.u64 %rd, x; }",
          std::string(".version 9.0 .global .b8 x[9] = {1,2,3,4,5,6,7,8,9,10};"),
          std::string(".version 9.0 .func f() { call f, (); } .entry k() { call f, (); }")})
        if (const auto module = PtxModule::parse(text))
            runAll(**module);
}

} // namespace
} // namespace espalier::sim
