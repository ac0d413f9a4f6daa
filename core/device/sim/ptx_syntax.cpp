// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/ptx_syntax.h"

#include <algorithm>
#include <array>

namespace espalier::sim {

Type typeNamed(std::string_view name)
{
    static constexpr std::array<std::pair<std::string_view, Type>, 27> names{{
        {"pred", Type::Pred},   {"b8", Type::B8},         {"b16", Type::B16},       {"b32", Type::B32},
        {"b64", Type::B64},     {"b128", Type::B128},     {"u8", Type::U8},         {"u16", Type::U16},
        {"u32", Type::U32},     {"u64", Type::U64},       {"s8", Type::S8},         {"s16", Type::S16},
        {"s32", Type::S32},     {"s64", Type::S64},       {"f16", Type::F16},       {"f16x2", Type::F16x2},
        {"bf16", Type::BF16},   {"bf16x2", Type::BF16x2}, {"f32", Type::F32},       {"f64", Type::F64},
        {"tf32", Type::TF32},   {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2}, {"texref", Type::B64},
        {"surfref", Type::B64}, {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2},
    }};
    for (const auto& [text, type] : names)
        if (text == name)
            return type;
    return Type::None;
}

bool Statement::has(std::string_view modifier) const
{
    return std::ranges::find(modifiers, modifier) != modifiers.end();
}

std::int64_t Function::label(std::uint32_t scope, std::string_view text) const
{
    while (true) {
        if (const auto found = labels.find({scope, text}); found != labels.end())
            return found->second;
        if (scope == 0)
            return -1;
        scope = scopeParents[scope];
    }
}

} // namespace espalier::sim
