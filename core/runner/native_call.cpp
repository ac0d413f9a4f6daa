// SPDX-License-Identifier: Apache-2.0
#include "core/runner/native_call.h"

#include <ffi.h>
#include <fmt/format.h>

namespace espalier::runner {

struct NativeCall::Impl {
    void (*function)() = nullptr;
    ffi_cif interface = {};
    std::vector<ffi_type*> types;
    std::vector<std::uint64_t> bits; ///< each argument's value, in the low bytes
    std::vector<void*> values;
};

NativeCall::NativeCall(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
NativeCall::NativeCall(NativeCall&&) noexcept = default;
NativeCall& NativeCall::operator=(NativeCall&&) noexcept = default;
NativeCall::~NativeCall() = default;

namespace {

ffi_type* typeOf(ValueKind kind)
{
    switch (kind) {
    case ValueKind::U8:
        return &ffi_type_uint8;
    case ValueKind::U16:
        return &ffi_type_uint16;
    case ValueKind::I32:
        return &ffi_type_sint32;
    case ValueKind::I64:
        return &ffi_type_sint64;
    case ValueKind::F32:
        return &ffi_type_float;
    case ValueKind::F64:
        return &ffi_type_double;
    case ValueKind::Pointer:
    case ValueKind::Null:
    case ValueKind::Stream:
        break;
    }
    return &ffi_type_pointer;
}

} // namespace

Result<NativeCall> NativeCall::prepare(void* function, const Call& call, std::span<const std::uint64_t> addresses,
                                       void* stream, Returns returns)
{
    auto impl = std::make_unique<Impl>();
    impl->function = reinterpret_cast<void (*)()>(function);
    for (const CallValue& value : call.values) {
        std::uint64_t bits = value.bits;
        if (value.kind == ValueKind::Pointer) {
            if (value.slot >= addresses.size() || addresses[value.slot] == 0) {
                return fail(ErrorCode::Protocol, fmt::format("slot {} is not mapped", value.slot));
            }
            bits += addresses[value.slot];
        } else if (value.kind == ValueKind::Stream) {
            bits = reinterpret_cast<std::uint64_t>(stream);
        } else if (value.kind == ValueKind::Null) {
            bits = 0;
        }
        impl->types.push_back(typeOf(value.kind));
        impl->bits.push_back(bits);
    }
    for (std::uint64_t& bits : impl->bits) {
        impl->values.push_back(&bits);
    }
    ffi_type* result = returns == Returns::Int ? &ffi_type_sint32 : &ffi_type_uint64;
    if (ffi_prep_cif(&impl->interface, FFI_DEFAULT_ABI, static_cast<unsigned>(impl->types.size()), result,
                     impl->types.data()) != FFI_OK) {
        return fail(ErrorCode::Internal, "libffi refused the entry's signature");
    }
    return NativeCall(std::move(impl));
}

int NativeCall::callInt() const
{
    ffi_arg result = 0; // libffi widens small results to a register
    ffi_call(&m_impl->interface, m_impl->function, &result, m_impl->values.data());
    return static_cast<int>(result);
}

std::uint64_t NativeCall::callSize() const
{
    std::uint64_t result = 0;
    ffi_call(&m_impl->interface, m_impl->function, &result, m_impl->values.data());
    return result;
}

} // namespace espalier::runner
