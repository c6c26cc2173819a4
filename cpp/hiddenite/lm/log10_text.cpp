#include "hiddenite/lm/log10_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace hiddenite::lm {

namespace {

// Up to 15 digits with a point, the common case, exactly; false: not of that form.
bool parse_plain_decimal(std::string_view text, double& value) {
  static constexpr std::array<double, 16> power{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  std::uint64_t digits = 0;
  std::size_t num_digits = 0, decimals = 0;
  bool point = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
      ++num_digits;
      decimals += point;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      return false;
    }
  }
  if (num_digits == 0 || num_digits > 15) return false;
  value = static_cast<double>(digits) / power[decimals];
  if (negative) value = -value;
  return true;
}

// Any other number: many digits, scientific notation, an infinity. NaN is none here, and
// neither is what exceeds a double.
bool parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !std::isnan(value);
}

bool append_decimals(std::string& text, double log10_value, float natural) {
  constexpr double scale = 1e8;
  const double magnitude = std::fabs(log10_value) * scale;
  if (magnitude > 1e15) return false;
  auto digits = static_cast<std::uint64_t>(magnitude + 0.5);
  const double again = static_cast<double>(digits) / scale;
  if (static_cast<float>((log10_value < 0 ? -again : again) * LN_10) != natural) return false;
  if (log10_value < 0) text += '-';
  char buffer[24];
  char* const end = buffer + sizeof buffer;
  char* p = end;
  int decimals = 8;
  while (decimals > 0 && digits % 10 == 0) digits /= 10, --decimals;
  for (int i = 0; i < decimals; ++i, digits /= 10) *--p = static_cast<char>('0' + digits % 10);
  if (decimals > 0) *--p = '.';
  do {
    *--p = static_cast<char>('0' + digits % 10);
    digits /= 10;
  } while (digits > 0);
  text.append(p, end);
  return true;
}

}  // namespace

bool parse_log10(std::string_view text, double& value) {
  return parse_plain_decimal(text, value) || parse_number(text, value);
}

void append_log10(std::string& text, float natural) {
  if (std::isinf(natural)) {
    text += "-99";
    return;
  }
  if (natural == 0.0f) {
    text += '0';
    return;
  }
  const double log10_value = natural / LN_10;
  if (!append_decimals(text, log10_value, natural)) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, log10_value,
                                   std::chars_format::general, 9).ptr;
    text.append(buffer, end);
  }
}

}  // namespace hiddenite::lm
