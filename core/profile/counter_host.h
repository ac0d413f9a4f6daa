// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/profile/cupti_api.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace espalier::profile {

/// CUPTI's Host API for one chip and one list of counters: which passes they take and what their values are. Needs no
/// GPU. Thread: one at a time. Owns CUPTI's object; images that CUPTI still reads are kept alive and never moved.
class CounterHost
{
public:
    /// `availability`: what the device itself says it can count; empty: whatever the chip can. A name that does not
    /// exist spoils the object for good, so names are checked one by one on objects of their own (supports()).
    /// Errors: NotSupported for a chip this CUPTI does not know, Internal else.
    static Result<CounterHost> create(const CuptiApi& api, const std::string& chip,
                                      std::vector<std::uint8_t> availability);
    CounterHost(CounterHost&& other) noexcept;
    CounterHost& operator=(CounterHost&&) = delete;
    ~CounterHost();

    Result<void> add(const std::vector<std::string>& counters);
    Result<std::size_t> passes();
    const std::vector<std::uint8_t>& configImage() const { return *m_config; } ///< after passes()
    /// Values of one range, in the order of `counters`; NaN: not available.
    Result<std::vector<double>> evaluate(const std::vector<std::uint8_t>& counterData, std::size_t range,
                                         const std::vector<std::string>& counters) const;

private:
    CounterHost(const CuptiApi& api, CUpti_Profiler_Host_Object* object, std::vector<std::uint8_t> availability);

    const CuptiApi* m_api;
    CUpti_Profiler_Host_Object* m_object;
    std::unique_ptr<std::vector<std::uint8_t>> m_availability, m_config;
};

/// The chips that this CUPTI knows: "GA100", "GH100", …
Result<std::vector<std::string>> knownChips(const CuptiApi& api);

/// Those of `counters` that the chip does not have. About 4 ms a name.
Result<std::vector<std::string>> unknownCounters(const CuptiApi& api, const std::string& chip,
                                                 const std::vector<std::string>& counters);

} // namespace espalier::profile
