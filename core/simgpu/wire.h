// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace espalier::sim {

/// Appends plain values to a message of this machine's own processes (same build, same byte order). Thread: one.
class ByteWriter
{
public:
    template <typename T>
    ByteWriter& put(T value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    ByteWriter& text(std::string_view value)
    {
        put(static_cast<std::uint32_t>(value.size()));
        m_bytes.append(value);
        return *this;
    }
    const std::string& bytes() const { return m_bytes; }
    std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes;
};

/// Reads what a ByteWriter wrote, from a peer that may lie: a read past the end gives zeros and makes ok() false, and
/// so does anything left over when done() is asked. Thread: one. Refers to bytes that must outlive it.
class ByteReader
{
public:
    explicit ByteReader(std::string_view bytes) : m_rest(bytes) {}

    template <typename T>
    T get()
    {
        static_assert(std::is_arithmetic_v<T>, "enums and bool are checked by the caller");
        T value{};
        if (m_rest.size() < sizeof value) {
            m_ok = false;
            m_rest = {};
            return value;
        }
        std::memcpy(&value, m_rest.data(), sizeof value);
        m_rest.remove_prefix(sizeof value);
        return value;
    }
    std::string_view text()
    {
        const auto size = get<std::uint32_t>();
        if (size > m_rest.size()) {
            m_ok = false;
            m_rest = {};
            return {};
        }
        const std::string_view value = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return value;
    }
    bool ok() const { return m_ok; }
    bool done() const { return m_ok && m_rest.empty(); }

private:
    std::string_view m_rest;
    bool m_ok = true;
};

} // namespace espalier::sim
