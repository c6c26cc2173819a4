#include "hiddenite/hmm/guide/hmm_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/guide/ahead_kernels.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t PIECE_ROWS = 128;  // of the transition matrix, for one thread at a time
constexpr std::size_t PIECE_WORDS = 2048;

// visit(state, probability) for the states that emit a word.
template <class Chain, class Visit>
void for_emissions(const Chain& chain, WordId w, Visit visit) {
  const auto emission = chain.emissions(w);
  if (emission.empty()) return;
  const StateSet set = chain.set(w);
  const std::size_t begin = chain.group_begin[set.group];
  for (std::uint32_t i = 0; i < emission.size(); ++i) visit(begin + set.place(i), static_cast<double>(emission[i]));
}

template <class Chain>
std::vector<double> emission_column(const Chain& chain, WordId w) {
  std::vector<double> column(chain.num_states(), 0.0);
  if (w != NO_WORD) for_emissions(chain, w, [&](std::size_t z, double p) { column[z] = p; });
  return column;
}

// What each state emits of each class of words: [class * states + z].
template <class Chain>
std::vector<double> class_masses(const Chain& chain, const Automaton& automaton, bool best) {
  const std::size_t states = chain.num_states();
  std::vector<double> mass(automaton.num_classes() * states, 0.0);
  WorkMeter meter;
  for (WordId w = 0; w < chain.num_words(); ++w) {
    if (w == end_of(chain)) continue;
    double* const row = mass.data() + automaton.class_of[w] * states;
    meter.add(chain.emissions(w).size());
    for_emissions(chain, w, [&](std::size_t z, double p) { row[z] = best ? std::max(row[z], p) : row[z] + p; });
  }
  return mass;
}

void require_rows(const float* values, std::size_t rows, std::size_t columns, const char* what) {
  WorkMeter meter;
  for (std::size_t i = 0; i < rows; ++i) {
    meter.add(columns);
    double sum = 0.0;
    bool fits = true;
    for (std::size_t j = 0; j < columns; ++j) {
      const float x = values[i * columns + j];
      fits &= x >= 0.0f;
      sum += static_cast<double>(x);
    }
    if (!fits || !(std::abs(sum - 1.0) < 1e-3)) {
      throw ModelError(std::string(what) + ": row " + std::to_string(i + 1) + " does not add up to 1");
    }
  }
}

// p(w | before) = sum_z e(w, z) belief(z), and the same with the products belief(z) value(z) of the word's column.
template <class Chain>
class NextSums {
 public:
  NextSums(const Chain& chain, const std::vector<double>& belief, const NextColumns& columns, double* probability,
           double* joint)
      : chain_(chain), belief_(belief), columns_(columns), products_(columns.factor.size()),
        probability_(probability), joint_(joint) {
    for (const std::uint32_t column : columns.column) {
      if (column == DEAD || !products_[column].empty()) continue;
      std::vector<double>& product = products_[column];
      product.resize(chain.num_states());
      for (std::size_t z = 0; z < product.size(); ++z) {
        product[z] = belief[z] * columns.factor[column] * columns.values[z * columns.width + column];
      }
    }
  }

  void unknown_words(double* unknown) const {
    std::vector<double> sums(products_.size(), 0.0);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      for (const double x : products_[k]) sums[k] += x;
    }
    for (std::size_t c = 0; c < columns_.column.size(); ++c) {
      unknown[c] = columns_.column[c] == DEAD ? 0.0 : sums[columns_.column[c]];
    }
  }

  // The numbers of a word at place i.
  void add(std::size_t i, WordId w) {
    const auto emission = chain_.emissions(w);
    if (emission.empty()) return put(i, w, {0.0, 0.0});
    const StateSet set = chain_.set(w);
    const double* const belief = belief_.data() + chain_.group_begin[set.group];
    const double* const values = values_of(w) + chain_.group_begin[set.group];
    if (set.members == nullptr) return put(i, w, two_dots(emission.data(), belief, values, emission.size()));
    TwoSums sums{0.0, 0.0};
    for (std::uint32_t k = 0; k < emission.size(); ++k) {
      sums.first += static_cast<double>(emission[k]) * belief[set.members[k]];
      sums.second += static_cast<double>(emission[k]) * values[set.members[k]];
    }
    put(i, w, sums);
  }

  // The same for DOT_ROWS words at places i and on, if they have the same column.
  template <class WordAt>
  bool add_rows(std::size_t i, WordAt word) {
    if constexpr (std::is_same_v<Chain, DenseHmm>) {
      const double* const values = values_of(word(i));
      const float* rows[DOT_ROWS];
      for (std::size_t k = 0; k < DOT_ROWS; ++k) {
        if (values_of(word(i + k)) != values) return false;
        rows[k] = chain_.emissions(word(i + k)).data();
      }
      TwoSums sums[DOT_ROWS];
      two_dots_of_rows(rows, belief_.data(), values, chain_.num_states(), sums);
      for (std::size_t k = 0; k < DOT_ROWS; ++k) put(i + k, word(i + k), sums[k]);
      return true;
    }
    return false;
  }

 private:
  bool is_allowed(WordId w) const {
    return w != end_of(chain_) && columns_.column[(*columns_.class_of)[w]] != DEAD &&
           (columns_.word == NO_WORD || columns_.word == w);
  }
  const double* values_of(WordId w) const {
    return is_allowed(w) ? products_[columns_.column[(*columns_.class_of)[w]]].data() : belief_.data();
  }
  void put(std::size_t i, WordId w, const TwoSums& sums) {
    probability_[i] = sums.first;
    joint_[i] = w == end_of(chain_) ? sums.first * columns_.end : is_allowed(w) ? sums.second : 0.0;
  }

  const Chain& chain_;
  const std::vector<double>& belief_;
  const NextColumns& columns_;
  std::vector<std::vector<double>> products_;  // [column], by state; empty: no class leads there
  double *probability_, *joint_;
};

}  // namespace

void DenseHmm::add_forward(const StateSet& from, const double* x, const StateSet& to, double* y) const {
  add_row_times_large_block(x, from.size, transition, to.size, y);
}

void DenseHmm::check() const {
  const std::size_t states = num_states();
  double total = 0.0;
  for (const double x : initial) total += x >= 0.0 ? x : std::nan("");
  if (!(std::abs(total - 1.0) < 1e-3)) throw ModelError("initial: does not add up to 1");
  require_rows(transition, states, states, "transition");
  std::vector<double> sums(states, 0.0);
  WorkMeter meter;
  for (WordId w = 0; w < num_word_ids; ++w) {
    meter.add(states);
    const std::span<const float> row = emissions(w);
    for (std::size_t z = 0; z < states; ++z) sums[z] += row[z] >= 0.0f ? static_cast<double>(row[z]) : std::nan("");
  }
  for (std::size_t z = 0; z < states; ++z) {
    if (!(std::abs(sums[z] - 1.0) < 1e-3)) {
      throw ModelError("emission: state " + std::to_string(z + 1) + " does not add up to 1");
    }
  }
}

template <class Chain>
HmmAhead<Chain>::HmmAhead(const Chain& chain, const Automaton& automaton, const std::vector<AutomatonEdge>& edges,
                          bool best)
    : chain_(chain), best_(best), num_edges_(edges.size()), all_groups_(chain.num_groups()),
      mass_(edges.size() * chain.num_states(), 0.0), end_(emission_column(chain, end_of(chain))) {
  const std::size_t states = chain.num_states();
  const std::vector<double> masses = class_masses(chain, automaton, best);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    check_interrupt_at(e);
    for (const std::uint32_t c : edges[e].classes) {
      const double* const row = masses.data() + c * states;
      for (std::size_t z = 0; z < states; ++z) {
        double& to = mass_[z * num_edges_ + e];
        to = best ? std::max(to, row[z]) : to + row[z];
      }
    }
  }
  std::iota(all_groups_.begin(), all_groups_.end(), 0u);
  find_plain_groups(automaton, edges);
}

// A group is plain if all its words are of the class that most words are of, and none is the end.
template <class Chain>
void HmmAhead<Chain>::find_plain_groups(const Automaton& automaton, const std::vector<AutomatonEdge>& edges) {
  std::vector<std::size_t> sizes(automaton.num_classes(), 0);
  for (const std::uint32_t c : automaton.class_of) ++sizes[c];
  const auto common = static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  std::vector<bool> is_plain(chain_.num_groups(), true);
  for (WordId w = 0; w < chain_.num_words(); ++w) {
    if (chain_.emissions(w).empty()) continue;
    if (automaton.class_of[w] != common || w == end_of(chain_)) is_plain[chain_.set(w).group] = false;
  }
  for (const std::uint32_t g : all_groups_) (is_plain[g] ? plain_groups_ : other_groups_).push_back(g);
  for (const AutomatonEdge& edge : edges) {
    is_plain_edge_.push_back(std::find(edge.classes.begin(), edge.classes.end(), common) != edge.classes.end());
  }
}

template <class Chain>
void HmmAhead<Chain>::emit_group(const AheadStep& step, std::uint32_t group, const double* word, const double* next,
                                 double* out) const {
  const auto add = [&](double& sum, double x) { sum = best_ ? std::max(sum, x) : sum + x; };
  for (std::size_t z = chain_.group_begin[group]; z < chain_.group_begin[group + 1]; ++z) {
    double* const to = out + z * step.width;
    const double* const from = next + z * step.next_width;
    const double* const mass = mass_.data() + z * num_edges_;
    for (std::size_t column = 0; column < step.ends.size(); ++column) add(to[column], step.ends[column] * end_[z]);
    for (const AheadStep::Term& term : step.terms) {
      const double emission = word != nullptr ? word[z] : mass[term.edge];
      add(to[term.column], term.factor * emission * from[term.next_column]);
    }
  }
}

template <class Chain>
void HmmAhead<Chain>::emit(const AheadStep& step, const double* next, double* out) const {
  const std::vector<double> word = emission_column(chain_, step.word);
  const double* const given = step.word != NO_WORD ? word.data() : nullptr;
  for (const std::uint32_t g : all_groups_) emit_group(step, g, given, next, out);
}

// out += transitions to the groups `from`, times what they emit.
template <class Chain>
void HmmAhead<Chain>::transit(const std::vector<std::uint32_t>& from, const double* emitted, std::size_t width,
                              double* out, int threads) const {
  std::vector<std::uint32_t> sources;  // groups in which some column is positive
  for (const std::uint32_t h : from) {
    const double* const begin = emitted + chain_.group_begin[h] * width;
    const double* const end = emitted + chain_.group_begin[h + 1] * width;
    if (std::any_of(begin, end, [](double x) { return x > 0.0; })) sources.push_back(h);
  }
  struct Piece {
    std::uint32_t group;
    std::size_t first, rows;
  };
  std::vector<Piece> pieces;
  for (const std::uint32_t g : all_groups_) {
    for (std::size_t first = 0; first < chain_.group_size(g); first += PIECE_ROWS) {
      pieces.push_back({g, first, std::min<std::size_t>(PIECE_ROWS, chain_.group_size(g) - first)});
    }
  }
  parallel_for(pieces.size(), threads, [&](std::size_t p, int) {
    const Piece& piece = pieces[p];
    double* const y = out + (chain_.group_begin[piece.group] + piece.first) * width;
    for (const std::uint32_t h : sources) {
      const std::size_t columns = chain_.group_size(h);
      const float* const block = chain_.block_of(piece.group, h) + piece.first * columns;
      const double* const w = emitted + chain_.group_begin[h] * width;
      (best_ ? max_block_times_columns : add_block_times_columns)(block, piece.rows, columns, w, width, y);
    }
  });
}

// What plain groups need: the different next columns, and the terms that read them.
template <class Chain>
struct HmmAhead<Chain>::Plain {
  std::vector<AheadStep::Term> terms;        // next_column: a place in `next_columns`
  std::vector<std::uint32_t> next_columns;
  std::uint32_t edge = 0;                    // any that words of plain groups lead along: all have the same mass there
  std::size_t width = 0;
};

template <class Chain>
typename HmmAhead<Chain>::Plain HmmAhead<Chain>::plain_columns(const AheadStep& step) const {
  Plain plain;
  for (AheadStep::Term term : step.terms) {
    if (!is_plain_edge_[term.edge]) continue;
    const auto found = std::find(plain.next_columns.begin(), plain.next_columns.end(), term.next_column);
    const auto place = static_cast<std::uint32_t>(found - plain.next_columns.begin());
    if (found == plain.next_columns.end()) plain.next_columns.push_back(term.next_column);
    term.next_column = place;
    plain.edge = term.edge;
    plain.terms.push_back(term);
  }
  plain.width = (plain.next_columns.size() + COLUMN_TILE - 1) / COLUMN_TILE * COLUMN_TILE;
  return plain;
}

template <class Chain>
void HmmAhead<Chain>::apply_plain(const AheadStep& step, const Plain& plain, const double* next, double* out,
                                  int threads) const {
  const std::size_t states = chain_.num_states(), width = plain.width;
  std::vector<double> emitted(states * width, 0.0), moved(states * width, 0.0);
  for (const std::uint32_t g : plain_groups_) {
    for (std::size_t z = chain_.group_begin[g]; z < chain_.group_begin[g + 1]; ++z) {
      for (std::size_t d = 0; d < plain.next_columns.size(); ++d) {
        emitted[z * width + d] = mass_[z * num_edges_ + plain.edge] * next[z * step.next_width + plain.next_columns[d]];
      }
    }
  }
  transit(plain_groups_, emitted.data(), width, moved.data(), threads);
  for (std::size_t z = 0; z < states; ++z) {
    for (const AheadStep::Term& term : plain.terms) {
      double& to = out[z * step.width + term.column];
      const double x = term.factor * moved[z * width + term.next_column];
      to = best_ ? std::max(to, x) : to + x;
    }
  }
}

template <class Chain>
void HmmAhead<Chain>::apply(const AheadStep& step, const double* next, double* out, int threads) const {
  std::vector<double> emitted(chain_.num_states() * step.width, 0.0);
  const Plain plain = step.word == NO_WORD && !plain_groups_.empty() ? plain_columns(step) : Plain{};
  if (plain.width == 0 || plain.width == step.width) {
    emit(step, next, emitted.data());
    transit(all_groups_, emitted.data(), step.width, out, threads);
    return;
  }
  for (const std::uint32_t g : other_groups_) emit_group(step, g, nullptr, next, emitted.data());
  transit(other_groups_, emitted.data(), step.width, out, threads);
  apply_plain(step, plain, next, out, threads);
}

template <class Chain>
double GuidedHmm<Chain>::advance(WordId w, std::vector<double>& belief) const {
  std::vector<double> after;
  double total = 0.0;
  const auto meet = [&](std::size_t z, double p) {
    after.push_back(p * belief[z]);
    total += after.back();
  };
  if (w != NO_WORD) for_emissions(chain_, w, meet);
  std::vector<double> next(chain_.num_states(), 0.0);
  const auto move = [&](const StateSet& from, const double* x) {
    for (std::uint32_t h = 0; h < chain_.num_groups(); ++h) {
      chain_.add_forward(from, x, chain_.whole(h), next.data() + chain_.group_begin[h]);
    }
  };
  if (total > 0.0) {
    for (double& x : after) x /= total;
    move(chain_.set(w), after.data());
  } else {
    for (std::uint32_t g = 0; g < chain_.num_groups(); ++g) {
      move(chain_.whole(g), belief.data() + chain_.group_begin[g]);
    }
  }
  belief = std::move(next);
  return total;
}

template <class Chain>
void GuidedHmm<Chain>::next_words(const std::vector<double>& belief, const NextColumns& columns,
                                  const std::vector<WordId>& words, int threads, double* probability, double* joint,
                                  double* unknown) const {
  NextSums<Chain> sums(chain_, belief, columns, probability, joint);
  sums.unknown_words(unknown);
  const std::size_t size = words.empty() ? chain_.num_words() : words.size();
  const auto word = [&](std::size_t i) { return words.empty() ? static_cast<WordId>(i) : words[i]; };
  parallel_for((size + PIECE_WORDS - 1) / PIECE_WORDS, threads, [&](std::size_t piece, int) {
    const std::size_t end = std::min(size, (piece + 1) * PIECE_WORDS);
    for (std::size_t i = piece * PIECE_WORDS; i < end;) {
      if (i + DOT_ROWS <= end && sums.add_rows(i, word)) {
        i += DOT_ROWS;
        continue;
      }
      sums.add(i, word(i));
      ++i;
    }
  });
}

template class HmmAhead<SparseHmm>;
template class HmmAhead<DenseHmm>;
template class GuidedHmm<SparseHmm>;
template class GuidedHmm<DenseHmm>;

}  // namespace hiddenite::hmm
