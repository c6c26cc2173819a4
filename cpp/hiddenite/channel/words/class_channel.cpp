#include "hiddenite/channel/words/class_channel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

namespace {

bool is_number(std::string_view text, double& value) {
  if (text.empty() || (text[0] != '.' && text[0] != '-' && (text[0] < '0' || text[0] > '9'))) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

ClassExpansion read_expansion(std::string_view rest, const LineReader& lines) {
  const auto refuse = [&](const std::string& message) {
    throw FormatError(lines.name(), lines.line_number(), message);
  };
  ClassExpansion result;
  result.name = next_word(rest);
  std::string_view word = next_word(rest);
  double prob = 1.0;
  if (is_number(word, prob)) {
    if (!(prob >= 0.0 && prob <= 1.0)) {
      refuse("found '" + std::string(word) + "', expected a probability from 0 to 1");
    }
    word = next_word(rest);
  }
  result.log_prob = std::log(prob);
  for (; !word.empty(); word = next_word(rest)) {
    if (word == "<s>" || word == "</s>") {
      refuse("found " + std::string(word) + " in an expansion; sentence ends are added");
    }
    result.words.emplace_back(word);
  }
  if (result.words.empty()) {
    refuse("found the class '" + result.name + "' without words, expected: class [probability] word word ...");
  }
  if (result.words.size() == 1 && result.words[0] == result.name) {
    refuse("found the class '" + result.name + "' that stands for itself; give it another name");
  }
  return result;
}

}  // namespace

std::vector<ClassExpansion> read_classes(LineReader& lines) {
  std::vector<ClassExpansion> result;
  std::set<std::pair<std::string, std::vector<std::string>>> known;
  for (std::string_view line; lines.next(line);) {
    check_text(line, lines.name(), lines.line_number());
    if (lines.line_number() == 1) line = without_bom(line);
    if (trim(line).empty() || line.starts_with("##")) continue;
    result.push_back(read_expansion(line, lines));
    if (!known.emplace(result.back().name, result.back().words).second) {
      throw FormatError(lines.name(), lines.line_number(),
                        "found this expansion of '" + result.back().name + "' again; each may appear once");
    }
  }
  if (result.empty()) {
    throw FormatError(lines.name(), 0, "holds no class, expected lines of: class [probability] word word ...");
  }
  return result;
}

ClassChannel::ClassChannel(const NgramTable& table, const std::vector<ClassExpansion>& expansions) : table_(table) {
  for (const auto& [name, words, log_prob] : expansions) {
    const WordId id = table.vocabulary.find(name);
    if (id == NO_WORD || id < NUM_SPECIAL_WORDS || log_prob == LOG_ZERO) continue;
    by_first_[words[0]].push_back({{words.begin() + 1, words.end()}, id, log_prob});
  }
  if (by_first_.empty()) {
    throw ModelError("the model lists none of the classes, expected an n-gram model over words and classes");
  }
}

void ClassChannel::add_classes(const Words& words, std::size_t i, std::vector<Edge>& edges) const {
  const auto found = by_first_.find(std::string(words[i]));
  if (found == by_first_.end()) return;
  const auto from = static_cast<std::uint32_t>(i);
  for (const Expansion& expansion : found->second) {
    const std::size_t size = 1 + expansion.rest.size();
    const auto next = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (i + size > words.size() || !std::equal(expansion.rest.begin(), expansion.rest.end(), next)) continue;
    edges.push_back({from + static_cast<std::uint32_t>(size), from, expansion.id, expansion.log_prob});
  }
}

std::vector<ClassChannel::Edge> ClassChannel::edges_of(const Words& words) const {
  std::vector<Edge> edges;
  std::vector<char> is_covered(words.size(), 0), is_reached(words.size() + 1, 0), is_known(words.size(), 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t first = edges.size();
    add_classes(words, i, edges);
    for (std::size_t e = first; e < edges.size(); ++e) {
      std::fill(is_covered.begin() + edges[e].from, is_covered.begin() + edges[e].to, 1);
    }
    const WordId id = table_.vocabulary.find(words[i]);
    if (id == NO_WORD) continue;
    is_known[i] = 1;
    edges.push_back({static_cast<std::uint32_t>(i) + 1, static_cast<std::uint32_t>(i), id, 0.0});
  }
  const auto add_unknown = [&](std::size_t i) {
    edges.push_back({static_cast<std::uint32_t>(i) + 1, static_cast<std::uint32_t>(i), UNKNOWN, 0.0});
  };
  const std::size_t listed = edges.size();
  is_reached[0] = 1;
  std::size_t e = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {  // the edges that leave i stand together
    for (; e < listed && edges[e].from == i; ++e) is_reached[edges[e].to] |= is_reached[i];
    if (is_covered[i] || is_known[i]) continue;
    add_unknown(i);
    is_reached[i + 1] |= is_reached[i];
  }
  for (std::size_t i = 0; !is_reached[words.size()] && i < words.size(); ++i) {
    if (is_covered[i] && !is_known[i]) add_unknown(i);
  }
  return edges;
}

Reading ClassChannel::read_text(std::string_view line) const {
  Words words;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (word == "<s>" || word == "</s>") {
      throw ModelError("found " + std::string(word) + " in the text; sentence ends are added, leave them out");
    }
    words.push_back(word);
  }
  std::vector<Edge> edges = edges_of(words);
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
  Reading reading;
  bool is_chain = true;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (edge.id == UNKNOWN) {
      reading.add_unknown(words[edge.from], edge.log_weight);
    } else {
      reading.add(edge.id, edge.log_weight);
    }
    if (i + 1 < edges.size() && edges[i + 1].to == edge.to && edges[i + 1].from == edge.from) continue;
    reading.close_slot();
    reading.spans.push_back({edge.from, edge.to});
    is_chain = is_chain && edge.to == edge.from + 1;
  }
  if (is_chain) reading.spans.clear();
  return reading;
}

}  // namespace hiddenite::channel
