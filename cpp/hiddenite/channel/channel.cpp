#include "hiddenite/channel/channel.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

std::string_view Reading::word(const Vocabulary& vocabulary, std::size_t slot, std::size_t index) const {
  const std::uint64_t candidate = begin[slot] + index;
  if (!spellings.empty()) {
    const auto found = std::lower_bound(spellings.begin(), spellings.end(), candidate,
                                        [](const auto& entry, std::uint64_t c) { return entry.first < c; });
    if (found != spellings.end() && found->first == candidate) return found->second;
  }
  return vocabulary.word(words[candidate]);
}

Reading Channel::read(std::string_view line) const {
  const std::size_t bad = find_invalid_utf8(line);
  if (bad != line.npos) {
    throw ModelError(column(line, bad) + (line[bad] == '\0' ? "found a NUL byte, expected text"
                                                            : "found a byte that is not UTF-8, expected UTF-8 "
                                                              "text; convert the input with iconv"));
  }
  return read_text(line);
}

std::string check_candidate(std::string_view word, double log_weight) {
  if (word == "<s>" || word == "</s>") {
    return "found " + std::string(word) + ", which cannot be a candidate: sentence ends are added";
  }
  if (word.empty()) {
    return "found an empty word, expected at least one character; `hiddenite lattice decode` takes lattices and slots "
           "with edges without a word";
  }
  if (std::any_of(word.begin(), word.end(), is_space)) {
    return "found white space in a word; it separates words, give each a position";
  }
  if (std::isnan(log_weight) || log_weight == -LOG_ZERO) {
    return "found the log weight " + std::to_string(log_weight) + " of \"" + std::string(word) +
           "\", expected a finite number or -inf";
  }
  return {};
}

std::optional<std::size_t> find_repeated_word(const Reading& reading, const Vocabulary& vocabulary) {
  const std::uint64_t first = reading.begin.back();
  // Words are equal if their ids are, or, outside the vocabulary, their spellings.
  const auto id = [&](std::uint32_t k) { return reading.words[first + k]; };
  const auto word = [&](std::uint32_t k) { return reading.word(vocabulary, reading.length(), k); };
  const auto equal = [&](std::uint32_t a, std::uint32_t b) {
    return id(a) == id(b) && (id(a) != UNKNOWN || word(a) == word(b));
  };
  std::vector<std::uint32_t> order(reading.words.size() - first);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (equal(a, b)) return a < b;
    return id(a) != id(b) ? id(a) < id(b) : word(a) < word(b);
  });
  const auto found = std::adjacent_find(order.begin(), order.end(), equal);
  if (found == order.end()) return std::nullopt;
  return *(found + 1);
}

Reading reading_from_slots(const Vocabulary& vocabulary, const std::vector<WeightedWords>& slots) {
  Reading reading;
  for (const WeightedWords& slot : slots) {
    const std::string place = "position " + std::to_string(reading.length() + 1) + ": ";
    for (const auto& [word, log_weight] : slot) {
      const std::string fault = check_candidate(word, log_weight);
      if (!fault.empty()) throw ModelError(place + fault);
      reading.add(vocabulary, word, log_weight);
    }
    if (const auto repeated = find_repeated_word(reading, vocabulary)) {
      throw ModelError(place + "found \"" + slot[*repeated].first + "\" twice, expected each word once");
    }
    reading.close_slot();
  }
  return reading;
}

namespace {

// "edge N: ", N being the place of an edge as given.
std::string edge_place(std::size_t edge) { return "edge " + std::to_string(edge + 1) + ": "; }

void check_edge(const LatticeEdge& edge, std::size_t number, std::size_t num_edges) {
  if (edge.from >= edge.to) {
    throw ModelError(edge_place(number) + "found one from node " + std::to_string(edge.from) + " to node " +
                     std::to_string(edge.to) + ", expected nodes numbered so that edges lead upwards");
  }
  // Numbers may be left out (offsets in a text are good nodes), but not so many that they cost memory.
  if (edge.to > 1000 + 16 * num_edges) {
    throw ModelError(edge_place(number) + "found node " + std::to_string(edge.to) + " among " +
                     std::to_string(num_edges) + " edges, expected nodes numbered 0, 1, 2 and so on");
  }
  const std::string fault = check_candidate(edge.word, edge.log_weight);
  if (!fault.empty()) throw ModelError(edge_place(number) + fault);
}

}  // namespace

Reading reading_from_lattice(const NgramTable& table, const std::vector<LatticeEdge>& edges, std::size_t keep) {
  std::vector<std::uint32_t> order(edges.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::uint32_t e : order) check_edge(edges[e], e, edges.size());
  const auto span = [&](std::uint32_t e) { return std::pair(edges[e].to, edges[e].from); };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return span(a) < span(b); });
  Reading reading;
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    for (; last < order.size() && span(order[last]) == span(order[first]); ++last) {
      reading.add(table.vocabulary, edges[order[last]].word, edges[order[last]].log_weight);
    }
    if (const auto repeated = find_repeated_word(reading, table.vocabulary)) {
      const std::uint32_t e = order[first + *repeated];
      throw ModelError(edge_place(e) + "found \"" + edges[e].word + "\" from node " + std::to_string(edges[e].from) +
                       " to node " + std::to_string(edges[e].to) + " again, expected it once");
    }
    keep_best(reading, keep, table);
    reading.close_slot();
    reading.spans.push_back({edges[order[first]].from, edges[order[first]].to});
  }
  return reading;
}

void UnknownWords::check() const {
  if (cost >= 0.0 && std::isfinite(cost)) return;
  throw ModelError("the cost of an unknown word's character is " + std::to_string(cost) +
                   ", expected a finite number of at least 0; ln 26 = 3.26 makes all letters alike");
}

void UnknownWords::add(Reading& reading, const Vocabulary& vocabulary, std::string_view seen,
                       double log_weight) const {
  const WordId id = vocabulary.find(seen);
  if (!allowed || (id != NO_WORD && id >= NUM_SPECIAL_WORDS) || log_weight == LOG_ZERO) return;
  reading.add_unknown(seen, log_weight - cost * static_cast<double>(count_characters(seen)));
}

std::string column(std::string_view line, std::size_t offset) {
  return "column " + std::to_string(count_characters(line.substr(0, offset)) + 1) + ": ";
}

namespace {

// The open slot's candidates that stay although their weight is no better than
// that of some which go: the `wanted` first by unigram probability and id.
std::vector<std::uint64_t> choose_among_ties(std::vector<std::uint64_t> ties, std::size_t wanted,
                                             const Reading& reading, const NgramTable& table) {
  const auto unigram = [&](std::uint64_t i) { return table.log_prob[1 + reading.words[i]]; };
  std::nth_element(ties.begin(), ties.begin() + static_cast<std::ptrdiff_t>(wanted), ties.end(),
                   [&](std::uint64_t a, std::uint64_t b) {
                     if (unigram(a) != unigram(b)) return unigram(a) > unigram(b);
                     if (reading.words[a] != reading.words[b]) return reading.words[a] < reading.words[b];
                     return a < b;
                   });
  ties.resize(wanted);
  std::sort(ties.begin(), ties.end());
  return ties;
}

// Moves the chosen candidates (in order) to the front of the open slot and
// drops the others, with their spellings.
void compact(Reading& reading, const std::vector<std::uint64_t>& chosen) {
  const std::uint64_t first = reading.begin.back();
  auto spelling = std::lower_bound(reading.spellings.begin(), reading.spellings.end(), first,
                                   [](const auto& entry, std::uint64_t c) { return entry.first < c; });
  auto kept = spelling;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    while (spelling != reading.spellings.end() && spelling->first < chosen[k]) ++spelling;
    if (spelling != reading.spellings.end() && spelling->first == chosen[k]) {
      if (kept != spelling) *kept = std::move(*spelling);
      kept->first = first + k;
      ++kept;
      ++spelling;
    }
    reading.words[first + k] = reading.words[chosen[k]];
    reading.log_weights[first + k] = reading.log_weights[chosen[k]];
  }
  reading.spellings.erase(kept, reading.spellings.end());
  reading.words.resize(first + chosen.size());
  reading.log_weights.resize(first + chosen.size());
}

}  // namespace

void keep_best(Reading& reading, std::size_t keep, const NgramTable& table) {
  const std::uint64_t first = reading.begin.back();
  if (reading.words.size() - first <= keep) return;
  std::vector<double> sorted(reading.log_weights.begin() + static_cast<std::ptrdiff_t>(first),
                             reading.log_weights.end());
  const auto last_kept = sorted.begin() + static_cast<std::ptrdiff_t>(keep) - 1;
  std::nth_element(sorted.begin(), last_kept, sorted.end(), std::greater<>());
  std::vector<std::uint64_t> chosen, ties;
  for (std::uint64_t i = first; i < reading.words.size(); ++i) {
    if (reading.log_weights[i] > *last_kept) chosen.push_back(i);
    if (reading.log_weights[i] == *last_kept) ties.push_back(i);
  }
  const std::size_t num_better = chosen.size();
  ties = choose_among_ties(std::move(ties), keep - num_better, reading, table);
  chosen.insert(chosen.end(), ties.begin(), ties.end());
  std::inplace_merge(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(num_better), chosen.end());
  compact(reading, chosen);
}

}  // namespace hiddenite::channel
