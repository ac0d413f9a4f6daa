// SPDX-License-Identifier: Apache-2.0
// The order of the blocks decides how well divergent lanes meet again. A warp always runs its lowest waiting
// instruction, so every block must stand after all blocks that lead to it, and a loop must stand in one piece: then
// lanes that leave a branch or a loop early wait behind it until the others arrive. Bourdoncle's weak topological order
// ("Efficient chaotic iteration strategies with widenings", 1993) is exactly that.
#include "core/device/sim/blocks.h"
#include "core/device/sim/decoder.h"

#include <algorithm>
#include <limits>

namespace espalier::sim {

namespace {

constexpr std::size_t mostOrdered = 4000; ///< blocks; the order is found by recursion

bool endsBlock(const Instr& instr)
{
    return instr.op == Op::Jump || instr.op == Op::Branch || instr.op == Op::BranchTable || instr.op == Op::Exit;
}

class WeakOrder
{
public:
    explicit WeakOrder(const std::vector<Block>& blocks) : m_blocks(blocks), m_number(blocks.size(), 0) {}

    std::vector<std::uint32_t> run()
    {
        std::vector<std::uint32_t> order; // built back to front
        visit(0, order);
        std::ranges::reverse(order);
        return order;
    }

private:
    static constexpr std::uint32_t done = std::numeric_limits<std::uint32_t>::max();

    template <class F>
    void eachSuccessor(std::uint32_t block, F made)
    {
        for (const std::uint32_t target : m_blocks[block].targets)
            made(target);
        if (m_blocks[block].falls)
            made(block + 1);
    }

    std::uint32_t visit(std::uint32_t block, std::vector<std::uint32_t>& order)
    {
        m_stack.push_back(block);
        m_number[block] = ++m_count;
        std::uint32_t head = m_number[block];
        bool loop = false;
        eachSuccessor(block, [&](std::uint32_t next) {
            const std::uint32_t least = m_number[next] == 0 ? visit(next, order) : m_number[next];
            if (least <= head) {
                head = least;
                loop = true;
            }
        });
        if (head != m_number[block])
            return head;
        m_number[block] = done;
        std::uint32_t element = m_stack.back();
        m_stack.pop_back();
        if (!loop) {
            order.push_back(block);
            return head;
        }
        while (element != block) {
            m_number[element] = 0;
            element = m_stack.back();
            m_stack.pop_back();
        }
        eachSuccessor(block, [&](std::uint32_t next) {
            if (m_number[next] == 0)
                visit(next, order);
        });
        order.push_back(block);
        return head;
    }

    const std::vector<Block>& m_blocks;
    std::vector<std::uint32_t> m_number;
    std::vector<std::uint32_t> m_stack;
    std::uint32_t m_count = 0;
};

} // namespace

std::vector<Block> findBlocks(const Kernel& kernel)
{
    const std::size_t count = kernel.code.size();
    std::vector<std::uint32_t> blockAt(count, 0);
    blockAt[0] = 1;
    for (std::size_t i = 0; i < count; ++i) {
        const Instr& instr = kernel.code[i];
        if (!endsBlock(instr))
            continue;
        if (i + 1 < count)
            blockAt[i + 1] = 1;
        if (instr.op == Op::Branch || instr.op == Op::Jump)
            blockAt[instr.target] = 1;
        if (instr.op == Op::BranchTable)
            for (const std::uint32_t target : kernel.tables[static_cast<std::size_t>(instr.imm)])
                blockAt[target] = 1;
    }
    std::uint32_t number = 0;
    for (std::uint32_t& at : blockAt)
        at = number += at; // from 1
    std::vector<Block> blocks(number);
    for (std::size_t i = 0; i < count; ++i) {
        Block& block = blocks[blockAt[i] - 1];
        if (i == 0 || blockAt[i] != blockAt[i - 1])
            block.begin = static_cast<std::uint32_t>(i);
        block.end = static_cast<std::uint32_t>(i + 1);
    }
    for (Block& block : blocks) {
        const Instr& last = kernel.code[block.end - 1];
        block.falls = !endsBlock(last) || (last.guard != 0 && last.op != Op::Jump);
        if (last.op == Op::Branch || last.op == Op::Jump)
            block.targets.push_back(blockAt[last.target] - 1);
        if (last.op == Op::BranchTable)
            for (const std::uint32_t target : kernel.tables[static_cast<std::size_t>(last.imm)])
                block.targets.push_back(blockAt[target] - 1);
    }
    return blocks;
}

void orderBlocks(Kernel& kernel, const std::vector<std::uint32_t>& labels)
{
    for (Instr& instr : kernel.code)
        if (instr.op == Op::Branch)
            instr.target = labels[instr.target];
    for (auto& table : kernel.tables)
        for (std::uint32_t& target : table)
            target = labels[target];
    const std::vector<Block> blocks = findBlocks(kernel);
    std::vector<std::uint32_t> order;
    if (blocks.size() <= mostOrdered) {
        order = WeakOrder(blocks).run();
    } else {
        order.resize(blocks.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
    }
    std::vector<std::uint32_t> startOf(kernel.code.size() + 1, 0); // old begin of a block → new begin
    std::vector<Instr> code;
    code.reserve(kernel.code.size() + 16);
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Block& block = blocks[order[k]];
        startOf[block.begin] = static_cast<std::uint32_t>(code.size());
        code.insert(code.end(), kernel.code.begin() + block.begin, kernel.code.begin() + block.end);
        const bool nextFollows = k + 1 < order.size() && order[k + 1] == order[k] + 1;
        if (block.falls && !nextFollows) {
            Instr jump{.op = Op::Jump};
            jump.target = block.end;
            jump.control = jump.internal = true;
            jump.location = code.back().location;
            jump.ptxLine = code.back().ptxLine;
            code.push_back(jump);
        }
    }
    for (Instr& instr : code)
        if (instr.op == Op::Branch || instr.op == Op::Jump)
            instr.target = startOf[instr.target];
    for (auto& table : kernel.tables)
        for (std::uint32_t& target : table)
            target = startOf[target];
    kernel.code = std::move(code);
}

} // namespace espalier::sim
