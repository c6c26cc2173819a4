#include "hiddenite/channel/typo.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

namespace {

// The rows of a US keyboard, without and with shift, and where each begins:
// neighbouring keys are one apart, and a row is one below the row before.
struct Row {
  std::u32string_view plain, shifted;
  double x;
};
constexpr std::array<Row, 4> ROWS = {{
    {U"`1234567890-=", U"~!@#$%^&*()_+", 0.0},
    {U"qwertyuiop[]\\", U"QWERTYUIOP{}|", 1.5},
    {U"asdfghjkl;'", U"ASDFGHJKL:\"", 1.75},
    {U"zxcvbnm,./", U"ZXCVBNM<>?", 2.25},
}};
constexpr int NUM_KEYBOARD_KEYS = 47;  // A
constexpr double TOUCHING = 1.3;       // keys at most so far apart are neighbours: up to six

struct PlacedKey {
  char32_t plain, shifted;
  double x, y;
  char32_t on(bool shift) const { return shift ? shifted : plain; }
};

const std::vector<PlacedKey>& keyboard() {
  static const std::vector<PlacedKey> keys = [] {
    std::vector<PlacedKey> result;
    for (std::size_t y = 0; y < ROWS.size(); ++y) {
      const Row& row = ROWS[y];
      for (std::size_t i = 0; i < row.plain.size(); ++i) {
        result.push_back({row.plain[i], row.shifted[i], row.x + static_cast<double>(i), static_cast<double>(y)});
      }
    }
    return result;
  }();
  return keys;
}

bool touch(const PlacedKey& a, const PlacedKey& b) {
  return std::hypot(a.x - b.x, a.y - b.y) <= TOUCHING && a.plain != b.plain;
}

void check_share(double value, const char* name) {
  if (value >= 0.0 && value <= 1.0) return;
  throw ModelError("the typo channel's " + std::string(name) + " is " + std::to_string(value) +
                   ", expected 0 to 1");
}

void check(const TypoRates& rates) {
  if (!(rates.error_rate >= 0.0 && rates.error_rate < 1.0)) {
    throw ModelError("the typo channel's error rate is " + std::to_string(rates.error_rate) +
                     ", expected at least 0 and less than 1");
  }
  check_share(rates.substitution, "substitution share");
  check_share(rates.insertion, "insertion share");
  check_share(rates.deletion, "deletion share");
  check_share(rates.transposition, "transposition share");
  check_share(rates.neighbour, "neighbour share");
  const double total = rates.substitution + rates.insertion + rates.deletion + rates.transposition;
  if (std::abs(total - 1.0) > 1e-6) {
    throw ModelError("the shares of substitution, insertion, deletion and transposition add up to " +
                     std::to_string(total) + ", expected 1");
  }
}

// x_t and its successor can be exchanged.
bool transposable(std::u32string_view word, std::size_t t) {
  return t + 1 < word.size() && word[t] != word[t + 1];
}

}  // namespace

TypoModel::TypoModel(const TypoRates& rates) : rates_(rates) {
  check(rates);
  const double e = rates.error_rate;
  log_keep_ = std::log1p(-e);
  log_keep_untransposable_ = std::log1p(-e * (1.0 - rates.transposition));
  log_insert_ = std::log(e * rates.insertion / NUM_KEYBOARD_KEYS);
  log_delete_ = std::log(e * rates.deletion);
  log_transpose_ = std::log(e * rates.transposition);
  log_end_ = std::log1p(-e * rates.insertion);
  keys_[0].log_other = std::log(e * rates.substitution / NUM_KEYBOARD_KEYS);
  keys_.fill(keys_[0]);
  for (const PlacedKey& placed : keyboard()) {
    for (const bool shift : {false, true}) {
      Key& key = keys_[placed.on(shift)];
      for (const PlacedKey& other : keyboard()) {
        if (touch(placed, other)) key.neighbours.push_back(other.on(shift));
      }
      const auto num_other = NUM_KEYBOARD_KEYS - 1 - static_cast<double>(key.neighbours.size());
      key.neighbours.push_back(placed.on(!shift));
      for (const char32_t c : key.neighbours) key.is_neighbour.set(c);
      key.log_neighbour =
          std::log(e * rates.substitution * rates.neighbour / static_cast<double>(key.neighbours.size()));
      key.log_other = std::log(e * rates.substitution * (1.0 - rates.neighbour) / num_other);
    }
  }
}

double TypoModel::log_keep(std::u32string_view word, std::size_t t) const {
  return transposable(word, t) ? log_keep_ : log_keep_untransposable_;
}

double TypoModel::log_substitute(char32_t intended, char32_t seen) const {
  const Key& k = key(intended);
  return seen < 128 && k.is_neighbour[seen] ? k.log_neighbour : k.log_other;
}

// Cell (i, j, k): the best script of k events that types seen[0 .. j) for
// intended[0 .. i). Only |i - j| <= distance can be reached: a row holds that
// band, by j - i, with a margin of impossible cells on either side.
double TypoModel::log_weight(std::u32string_view intended, std::u32string_view seen, int distance) const {
  const auto n = static_cast<int>(intended.size()), m = static_cast<int>(seen.size());
  if (std::abs(n - m) > distance) return LOG_ZERO;
  const int levels = distance + 1, row_size = (2 * distance + 3) * levels;
  thread_local std::vector<double> cells;  // scratch: this runs for every word near every observed one
  cells.assign(static_cast<std::size_t>((n + 1) * row_size), LOG_ZERO);
  const auto cell = [&](int i, int j) { return cells.data() + i * row_size + (j - i + distance + 1) * levels; };
  cell(0, 0)[0] = 0.0;
  for (int i = 0; i <= n; ++i) {
    for (int j = std::max(0, i - distance); j <= std::min(m, i + distance); ++j) {
      double* const to = cell(i, j);
      const auto event = [&](const double* from, double log_prob) {
        for (int k = 1; k < levels; ++k) to[k] = std::max(to[k], from[k - 1] + log_prob);
      };
      event(to - levels, log_insert_);
      if (i == 0) continue;
      const double* const diagonal = to - row_size;  // (i - 1, j - 1)
      event(diagonal + levels, log_delete_);
      if (j == 0) continue;
      const char32_t x = intended[i - 1], o = seen[j - 1];
      if (x == o) {
        const double log_prob = log_keep(intended, static_cast<std::size_t>(i - 1));
        for (int k = 0; k < levels; ++k) to[k] = std::max(to[k], diagonal[k] + log_prob);
        continue;
      }
      event(diagonal, log_substitute(x, o));
      const bool crossed = i > 1 && j > 1 && intended[i - 2] == o && seen[j - 2] == x;
      if (crossed) event(diagonal - row_size, log_transpose_);
    }
  }
  return *std::max_element(cell(n, m), cell(n, m) + levels) + log_end_;
}

namespace {

char32_t any_key(bool shift, Random& random) {
  return keyboard()[random.below(keyboard().size())].on(shift);
}

bool is_shifted(char32_t c) {
  return std::any_of(keyboard().begin(), keyboard().end(), [&](const PlacedKey& k) { return k.shifted == c; });
}

}  // namespace

char32_t TypoModel::draw_substitute(char32_t c, Random& random) const {
  const Key& k = key(c);
  if (!k.neighbours.empty() && random.uniform() < rates_.neighbour) {
    return k.neighbours[random.below(k.neighbours.size())];
  }
  char32_t other = any_key(is_shifted(c), random);
  while (other == c || (other < 128 && k.is_neighbour[other])) other = any_key(is_shifted(c), random);
  return other;
}

std::u32string TypoModel::draw(std::u32string_view word, Random& random) const {
  const double insert = rates_.error_rate * rates_.insertion;
  const double substitute = insert + rates_.error_rate * rates_.substitution;
  const double leave_out = substitute + rates_.error_rate * rates_.deletion;
  const double transpose = leave_out + rates_.error_rate * rates_.transposition;
  std::u32string typed;
  for (std::size_t t = 0; t <= word.size();) {
    const double u = random.uniform();
    if (u < insert) {
      typed.push_back(any_key(is_shifted(t < word.size() ? word[t] : word.back()), random));
    } else if (t == word.size()) {
      break;
    } else if (u < substitute) {
      typed.push_back(draw_substitute(word[t++], random));
    } else if (u < leave_out) {
      ++t;
    } else if (u < transpose && transposable(word, t)) {
      typed.append({word[t + 1], word[t]});
      t += 2;
    } else {
      typed.push_back(word[t++]);
    }
  }
  return typed;
}

void TypoModel::encode_word(std::string_view word, Random* random, std::string& out) const {
  if (!random) {
    out.append(word);
    return;
  }
  const std::u32string characters = to_characters(word);
  std::u32string typed = draw(characters, *random);
  while (typed.empty()) typed = draw(characters, *random);
  out += to_utf8(typed);
}

TypoChannel::TypoChannel(const NgramTable& table, const TypoModel& model, const TypoOptions& options)
    : table_(table), model_(model), options_(options), trie_(table.vocabulary) {
  if (options.distance < 0 || options.distance > MAX_DISTANCE) {
    throw ModelError("the typo channel's distance is " + std::to_string(options.distance) + ", expected 0 to " +
                     std::to_string(MAX_DISTANCE));
  }
  options.unknown.check();
}

namespace {

std::uint32_t length_bits(std::size_t length, int distance) {
  std::uint32_t bits = 0;
  for (int d = -distance; d <= distance; ++d) {
    const auto l = static_cast<std::ptrdiff_t>(length) + d;
    if (l > 0) bits |= Trie::length_bit(static_cast<std::size_t>(l));
  }
  return bits;
}

}  // namespace

Reading TypoChannel::read_text(std::string_view line) const {
  Reading reading;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    read_word(word, reading);
    keep_best(reading, options_.keep, table_);
    reading.close_slot();
  }
  return reading;
}

void TypoChannel::read_word(std::string_view word, Reading& reading) const {
  const std::u32string seen = to_characters(word);
  options_.unknown.add(reading, table_.vocabulary, word, model_.log_weight(seen, seen, 0));
  EditBands bands(seen, options_.distance);
  const std::uint32_t lengths = length_bits(seen.size(), options_.distance);
  std::vector<std::pair<WordId, double>> found;
  trie_.walk([&](const Trie::Node& node) {
    const auto depth = static_cast<int>(node.depth);
    if ((node.lengths & lengths) == 0 || !bands.enter(depth, node.label)) return false;
    if (node.word != NO_WORD && bands.accepts(depth)) {
      const double log_weight = model_.log_weight(bands.prefix(depth), seen, options_.distance);
      if (log_weight != LOG_ZERO) found.emplace_back(node.word, log_weight);
    }
    return true;
  });
  std::sort(found.begin(), found.end());
  for (const auto& [w, log_weight] : found) reading.add(w, log_weight);
}

}  // namespace hiddenite::channel
