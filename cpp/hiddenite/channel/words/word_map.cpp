#include "hiddenite/channel/words/word_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

namespace {

constexpr std::string_view UNKNOWN_TEXT = "<unk>";

bool is_sentence_end(std::string_view word) { return word == "<s>" || word == "</s>"; }

// Whole numbers and fractions, as they are written; words such as inf and nan are words.
std::optional<double> to_number(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() == sign) return std::nullopt;
  const char first = text[sign];
  if (text != "-inf" && first != '.' && (first < '0' || first > '9')) return std::nullopt;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    return text.find("e-") == text.npos && text.find("E-") == text.npos ? HUGE_VAL : 0.0;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

class MapReader {
 public:
  MapReader(LineReader& lines, MapNumbers numbers, const std::string& joiner)
      : lines_(lines), numbers_(numbers), joiner_(joiner) {}

  WordMap read() {
    for (std::string_view line; lines_.next(line);) {
      check_text(line, lines_.name(), lines_.line_number());
      if (lines_.line_number() == 1) line = without_bom(line);
      if (!trim(line).empty() && !line.starts_with("##")) add(line);
    }
    if (map_.lines.empty()) {
      throw FormatError(lines_.name(), 0,
                        "holds no entry, expected lines of an observed word and what it may stand for");
    }
    return std::move(map_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FormatError(lines_.name(), lines_.line_number(), message);
  }

  void add(std::string_view rest) {
    WordMap::Line line;
    line.observed = next_word(rest);
    if (is_sentence_end(line.observed)) return;
    std::set<std::string_view> seen;
    for (std::string_view word = next_word(rest); !word.empty();) {
      if (!seen.insert(word).second) fail("found '" + std::string(word) + "' twice; each word may appear once");
      WordMap::Alternative alternative{split(word), 0.0};
      word = next_word(rest);
      if (const auto number = to_number(word)) {
        alternative.log_weight = log_weight(*number, word);
        word = next_word(rest);
      }
      line.alternatives.push_back(std::move(alternative));
    }
    if (line.alternatives.empty()) {
      fail("found '" + line.observed + "' alone, expected the words that it may stand for after it");
    }
    const auto [known, is_new] = line_of_.emplace(line.observed, lines_.line_number());
    if (!is_new) {
      fail("found '" + line.observed + "' of line " + std::to_string(known->second) + " again; join the two lines");
    }
    map_.lines.push_back(std::move(line));
  }

  std::vector<std::string> split(std::string_view text) const {
    std::vector<std::string> words;
    if (!joiner_.empty() && text != joiner_) {
      for (std::size_t at = text.find(joiner_); at != text.npos; at = text.find(joiner_)) {
        words.emplace_back(text.substr(0, at));
        text.remove_prefix(at + joiner_.size());
      }
    }
    words.emplace_back(text);
    for (const std::string& word : words) {
      if (word.empty()) fail("found an empty word beside '" + joiner_ + "', expected words on both sides of it");
      if (is_sentence_end(word)) fail("found " + word + ", which cannot be an alternative: sentence ends are added");
    }
    return words;
  }

  double log_weight(double number, std::string_view text) const {
    if (numbers_ == MapNumbers::PROBABILITIES) {
      if (!(number >= 0.0 && number < HUGE_VAL)) {
        fail("found '" + std::string(text) + "' after a word, expected its probability, at least 0; logarithms need "
             "--map-numbers log10 or ln");
      }
      return std::log(number);
    }
    if (std::isnan(number) || number == HUGE_VAL) {
      fail("found '" + std::string(text) + "', expected a finite logarithm or -inf");
    }
    return numbers_ == MapNumbers::LOG10 ? number * std::numbers::ln10 : number;
  }

  LineReader& lines_;
  MapNumbers numbers_;
  std::string joiner_;
  WordMap map_;
  std::unordered_map<std::string, std::uint64_t> line_of_;
};

}  // namespace

WordMap read_word_map(LineReader& lines, MapNumbers numbers, const std::string& joiner) {
  return MapReader(lines, numbers, joiner).read();
}

// ------------------------------------------------------------------ candidates

MapChannel::MapChannel(const NgramTable& table, const WordMap& map, std::size_t keep) : table_(table) {
  for (const WordMap::Line& line : map.lines) alternatives_[line.observed] = prepare(line, keep);
  const auto unknown = alternatives_.find(std::string(UNKNOWN_TEXT));
  otherwise_ = unknown != alternatives_.end() ? unknown->second : Alternatives{{{{UNKNOWN, {}}}, 0.0}};
}

MapChannel::Alternatives MapChannel::prepare(const WordMap::Line& line, std::size_t keep) const {
  Alternatives result;
  for (const auto& [words, log_weight] : line.alternatives) {
    Alternative one{{}, log_weight};
    for (const std::string& word : words) {
      const WordId id = table_.vocabulary.find(word);
      const bool is_known = id != NO_WORD;
      const bool keeps_spelling = !is_known || (id == UNKNOWN && word != UNKNOWN_TEXT);
      one.words.push_back({is_known ? id : UNKNOWN, keeps_spelling ? word : std::string()});
    }
    result.push_back(std::move(one));
  }
  if (result.size() <= keep) return result;
  std::stable_sort(result.begin(), result.end(),
                   [](const Alternative& a, const Alternative& b) { return a.log_weight > b.log_weight; });
  result.resize(keep);
  return result;
}

const MapChannel::Alternatives& MapChannel::find(std::string_view observed) const {
  const auto found = alternatives_.find(std::string(observed));
  return found == alternatives_.end() ? otherwise_ : found->second;
}

void MapChannel::add(Reading& reading, const Word& word, std::string_view observed, double log_weight) const {
  if (word.id != UNKNOWN) {
    reading.add(word.id, log_weight);
  } else if (!word.spelling.empty()) {
    reading.add_unknown(word.spelling, log_weight);
  } else if (is_sentence_end(observed)) {
    throw ModelError("found " + std::string(observed) + " in the text; sentence ends are added, leave them out");
  } else {
    reading.add(table_.vocabulary, observed, log_weight);
  }
}

bool MapChannel::add_single_words(Reading& reading, const Alternatives& alternatives,
                                  std::string_view observed) const {
  const std::size_t size = reading.words.size();
  for (const Alternative& alternative : alternatives) {
    if (alternative.words.size() == 1) add(reading, alternative.words[0], observed, alternative.log_weight);
  }
  if (const auto repeated = find_repeated_word(reading, table_.vocabulary)) {
    const std::string word(reading.word(table_.vocabulary, reading.length(), *repeated));
    throw ModelError("the map's lines make '" + word + "' an alternative of '" + std::string(observed) +
                     "' twice; leave it out of the line of <unk>");
  }
  return reading.words.size() > size;
}

// All words of an alternative but the last, over inner joints.
void MapChannel::add_way(Reading& reading, const Alternative& alternative, std::string_view observed,
                         std::uint32_t from, std::uint32_t first_inner) const {
  for (std::size_t k = 0; k + 1 < alternative.words.size(); ++k) {
    const auto to = static_cast<std::uint32_t>(first_inner + k);
    add(reading, alternative.words[k], observed, k == 0 ? alternative.log_weight : 0.0);
    reading.close_slot();
    reading.spans.push_back({k == 0 ? from : to - 1, to});
  }
}

// Slots come in order of the joints that they lead to: first the ways of several words up to their last joints, then
// what leads to the word's end.
Reading MapChannel::read_text(std::string_view line) const {
  Reading reading;
  bool is_chain = true;
  std::uint32_t from = 0;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const Alternatives& alternatives = find(word);
    std::uint32_t inner = from + 1;
    for (const Alternative& alternative : alternatives) {
      if (alternative.words.size() == 1) continue;
      add_way(reading, alternative, word, from, inner);
      inner += static_cast<std::uint32_t>(alternative.words.size()) - 1;
    }
    const std::uint32_t to = inner;
    is_chain = is_chain && to == from + 1;
    const auto close = [&](std::uint32_t start) {
      reading.close_slot();
      reading.spans.push_back({start, to});
    };
    if (add_single_words(reading, alternatives, word)) close(from);
    inner = from;
    for (const Alternative& alternative : alternatives) {
      if (alternative.words.size() == 1) continue;
      inner += static_cast<std::uint32_t>(alternative.words.size()) - 1;
      add(reading, alternative.words.back(), word, 0.0);
      close(inner);
    }
    from = to;
  }
  if (is_chain) reading.spans.clear();
  return reading;
}

// -------------------------------------------------------------------- encoding

MapEncoder::MapEncoder(const WordMap& map) {
  for (const WordMap::Line& line : map.lines) {
    if (line.observed == UNKNOWN_TEXT) continue;
    for (const auto& [words, log_weight] : line.alternatives) {
      if (words.size() != 1 || log_weight == LOG_ZERO) continue;
      Observations& seen = observations_[words[0]];
      if (seen.observed.empty() || log_weight > seen.best_log_weight) {
        seen.best = seen.observed.size();
        seen.best_log_weight = log_weight;
      }
      seen.observed.push_back(line.observed);
      seen.cumulative.push_back(log_weight);
    }
  }
  for (auto& [word, seen] : observations_) {
    double sum = 0.0;
    for (double& value : seen.cumulative) value = sum += std::exp(value - seen.best_log_weight);
  }
}

void MapEncoder::encode_word(std::string_view word, Random* random, std::string& out) const {
  const auto found = observations_.find(std::string(word));
  if (found == observations_.end()) {
    out += word;
    return;
  }
  const Observations& seen = found->second;
  out += seen.observed[random == nullptr ? seen.best : random->draw(seen.cumulative)];
}

}  // namespace hiddenite::channel
