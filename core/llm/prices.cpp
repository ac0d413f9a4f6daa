// SPDX-License-Identifier: Apache-2.0
#include "core/llm/prices.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/resources.h"

#include <algorithm>

namespace espalier::llm {

namespace {

/// "anthropic/Claude-Opus-4.5:beta" and "claude-opus-4-5-20251101" to "claude-opus-4-5"
std::string plainName(std::string_view model)
{
    model.remove_prefix(std::min(model.rfind('/') + 1, model.size()));
    model = model.substr(0, model.find_first_of(":@["));
    std::string name;
    for (const char byte : model) {
        name += byte == '.' ? '-' : byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
    }
    for (const std::string_view suffix : {"-latest", "-preview"}) {
        name.resize(name.size() - (name.ends_with(suffix) ? suffix.size() : 0));
    }
    const auto digits = [&name](std::size_t from, std::size_t count) {
        return from + count <= name.size() && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(from),
                                                          name.begin() + static_cast<std::ptrdiff_t>(from + count),
                                                          [](char byte) { return byte >= '0' && byte <= '9'; });
    };
    const std::size_t size = name.size();
    if (size > 9 && name[size - 9] == '-' && digits(size - 8, 8)) { // -20251101
        name.resize(size - 9);
    } else if (size > 11 && name[size - 11] == '-' && digits(size - 10, 4) && name[size - 6] == '-' &&
               digits(size - 5, 2) && name[size - 3] == '-' && digits(size - 2, 2)) {
        name.resize(size - 11); // -2025-11-01
    }
    return name;
}

Result<double> rate(const JsonReader& reader, const char* field)
{
    ESPALIER_TRY(const JsonReader value, reader.at(field));
    ESPALIER_TRY(const double number, value.number());
    if (!(number >= 0 && number < 1e6)) {
        return value.complain("USD for a million tokens, at least 0");
    }
    return number;
}

Result<TokenRates> ratesFrom(const JsonReader& reader)
{
    TokenRates rates;
    ESPALIER_TRY(rates.input, rate(reader, "input"));
    ESPALIER_TRY(rates.output, rate(reader, "output"));
    rates.cachedInput = rates.input;
    if (reader.has("cached_input")) {
        ESPALIER_TRY(rates.cachedInput, rate(reader, "cached_input"));
    }
    return rates;
}

Result<std::string> word(const JsonReader& reader, const char* field)
{
    ESPALIER_TRY(const JsonReader value, reader.at(field));
    return value.string();
}

Result<Price> priceFrom(const JsonReader& reader)
{
    ESPALIER_CHECK(reader.onlyFields({"model", "input", "output", "cached_input", "above", "source", "date"}));
    Price price;
    ESPALIER_TRY(const std::string model, word(reader, "model"));
    price.model = plainName(model);
    ESPALIER_TRY(price.rates, ratesFrom(reader));
    ESPALIER_TRY(price.source, word(reader, "source"));
    ESPALIER_TRY(price.date, word(reader, "date"));
    if (reader.has("above")) {
        ESPALIER_TRY(const JsonReader above, reader.at("above"));
        ESPALIER_CHECK(above.onlyFields({"tokens", "input", "output", "cached_input"}));
        ESPALIER_TRY(const JsonReader tokens, above.at("tokens"));
        ESPALIER_TRY(price.longPrompt, tokens.integer());
        ESPALIER_TRY(price.longRates, ratesFrom(above));
    }
    return price;
}

} // namespace

Result<PriceTable> PriceTable::parse(std::string_view json, const std::string& name)
{
    ESPALIER_TRY(const Json value, parseJson(json, name));
    const JsonReader reader(value, name);
    ESPALIER_CHECK(reader.onlyFields({"about", "prices"}));
    ESPALIER_TRY(const JsonReader list, reader.at("prices"));
    ESPALIER_TRY(const auto items, list.items());
    PriceTable table;
    for (const JsonReader& item : items) {
        ESPALIER_TRY(Price price, priceFrom(item));
        table.m_prices.push_back(std::move(price));
    }
    return table;
}

Result<PriceTable> PriceTable::load()
{
    PriceTable all;
    for (const auto& file : {configFolder() / "prices.json", resourceFile("prices.json")}) {
        const auto text = readFile(file);
        if (!text && text.error().code == ErrorCode::NotFound) {
            continue;
        }
        if (!text) {
            return std::unexpected(text.error());
        }
        ESPALIER_TRY(PriceTable table, parse(*text, file.string()));
        std::move(table.m_prices.begin(), table.m_prices.end(), std::back_inserter(all.m_prices));
    }
    return all;
}

const Price* PriceTable::find(std::string_view model) const
{
    const std::string name = plainName(model);
    const auto found =
        std::find_if(m_prices.begin(), m_prices.end(), [&name](const Price& price) { return price.model == name; });
    return found == m_prices.end() ? nullptr : &*found;
}

std::optional<double> PriceTable::costOf(const Usage& usage, std::string_view model) const
{
    const Price* const price = find(model);
    if (!price || usage.input < 0 || usage.output < 0) {
        return std::nullopt;
    }
    const TokenRates& rates =
        price->longPrompt > 0 && usage.input > price->longPrompt ? price->longRates : price->rates;
    const auto cached = static_cast<double>(std::clamp<std::int64_t>(usage.cachedInput, 0, usage.input));
    const auto input = static_cast<double>(usage.input) - cached;
    return (input * rates.input + cached * rates.cachedInput + static_cast<double>(usage.output) * rates.output) / 1e6;
}

} // namespace espalier::llm
