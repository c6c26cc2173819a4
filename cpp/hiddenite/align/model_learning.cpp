// A model that learns from one sentence pair after the other: its counts, and what it keeps of their sums.
#include "hiddenite/align/model.hpp"

#include <algorithm>

namespace hiddenite::align {

// The word's row, new if need be; NO_WORD for the reserved words, which have none.
std::uint32_t AlignmentModel::add_word(int side, std::string_view word) {
  const WordId id = words_[side].add(word);
  if (id < NUM_SPECIAL_WORDS) return NO_WORD;
  const std::uint32_t row = id - NUM_SPECIAL_WORDS;
  if (row == tables_.words[side].size()) {
    tables_.words[side].emplace_back(word);
    tables_.word_count[side].push_back(0);
    tables_.partners[side].push_back(0);
    tables_.likeness[side].push_back(0.0f);
    tables_.null_count[1 - side].push_back(0.0f);
    tables_.fertility[side].resize(tables_.fertility[side].size() + options_.max_fertility + 1, 0.0f);
    stem_of_word_[side].push_back(stems_[side].add(stem_of(word)));
    word_links_[side].push_back(0.0);
    for (auto* const sums : {&stem_links_[side], &stem_partners_[side], &stem_occurrences_[side]}) {
      sums->resize(stems_[side].size(), 0.0);
    }
  }
  ++tables_.word_count[side][row];
  stem_occurrences_[side][stem_of_word_[side][row]] += 1.0;
  return row;
}

void AlignmentModel::add_link(int d, std::uint32_t e, std::uint32_t f) {
  const auto row = static_cast<std::uint32_t>(tables_.pair_source.size());
  const auto [place, is_new] = pair_place_.try_emplace(pair_key(e, f), row);
  if (is_new) {
    tables_.pair_source.push_back(e);
    tables_.pair_target.push_back(f);
    for (auto& counts : tables_.pair_count) counts.push_back(0.0f);
    ++tables_.partners[0][e], ++tables_.partners[1][f];
  }
  const WordId stems[2] = {stem_of_word_[0][e], stem_of_word_[1][f]};
  const auto [stem_place, is_new_stem] =
      stem_pairs_.try_emplace(pair_key(stems[0], stems[1]), std::array<double, 2>{0.0, 0.0});
  for (int side = 0; is_new_stem && side < 2; ++side) stem_partners_[side][stems[side]] += 1.0;
  tables_.pair_count[d][place->second] += 1.0f;
  stem_place->second[d] += 1.0;
  word_links_[d][d == 0 ? e : f] += 1.0;
  stem_links_[d][stems[d]] += 1.0;
}

void AlignmentModel::add_fertilities(int d, const std::vector<std::uint32_t>& from, const Links& links) {
  const std::size_t width = options_.max_fertility + 1;
  std::vector<std::uint32_t> counts(from.size() + 1, 0);
  for (const std::uint32_t i : links) ++counts[i];
  std::vector<double>& global = global_fertility_[d];
  for (double& g : global) g *= fertility_total_[d];
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k] == NO_WORD) continue;
    const std::size_t count = std::min<std::size_t>(counts[k + 1], width - 1);
    tables_.fertility[d][from[k] * width + count] += 1.0f;
    global[count] += 1.0;
    fertility_total_[d] += 1.0;
  }
  for (double& g : global) g /= fertility_total_[d];
}

void AlignmentModel::add_jumps(int d, std::size_t num_sources, const Links& links) {
  std::ptrdiff_t last = 0;
  for (const std::ptrdiff_t i : links) {
    if (i == 0) continue;
    tables_.jumps[d][last > 0 ? 1 : 0][jump_bin(i - last, options_.max_jump)] += 1.0;
    last = i;
  }
  const auto end = static_cast<std::ptrdiff_t>(num_sources) + 1;
  if (last > 0) tables_.jumps[d][2][jump_bin(end - last, options_.max_jump)] += 1.0;
  set_jump_probs(d);
}

void AlignmentModel::learn(const std::array<std::vector<std::string_view>, 2>& words,
                           const std::array<Links, 2>& links) {
  std::array<std::vector<std::uint32_t>, 2> rows;
  for (int side = 0; side < 2; ++side) {
    for (const std::string_view word : words[side]) rows[side].push_back(add_word(side, word));
  }
  for (int d = 0; d < 2; ++d) {
    const std::vector<std::uint32_t>&from = rows[d], &to = rows[1 - d];
    for (std::size_t t = 0; t < to.size(); ++t) {
      const std::uint32_t i = links[d].at(t);
      if (to[t] == NO_WORD || (i > 0 && from.at(i - 1) == NO_WORD)) continue;
      if (i == 0) {
        tables_.null_count[d][to[t]] += 1.0f;
        null_total_[d] += 1.0;
      } else {
        add_link(d, d == 0 ? from[i - 1] : to[t], d == 0 ? to[t] : from[i - 1]);
      }
    }
    if (has_fertilities_) add_fertilities(d, from, links[d]);
    add_jumps(d, from.size(), links[d]);
  }
}

}  // namespace hiddenite::align
