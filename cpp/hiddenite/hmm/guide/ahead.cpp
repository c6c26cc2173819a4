#include "hiddenite/hmm/guide/ahead.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/hmm/guide/ahead_kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr double MOST_BYTES = 8e9;

Automaton checked(Automaton automaton, const GuidedChain& chain, const LengthWindow& window) {
  automaton.check(chain.num_words());
  if (window.shortest > window.longest) throw ModelError("the shortest sentence is longer than the longest");
  if (chain.end() == NO_WORD && window.shortest != window.longest) {
    throw ModelError("the model has no </s>; give an exact length");
  }
  for (const WordId w : window.fixed) {
    if (w != NO_WORD && w >= chain.num_words()) throw ModelError("a fixed word that the model does not have");
  }
  return automaton;
}

std::size_t padded(std::size_t columns) { return (columns + COLUMN_TILE - 1) / COLUMN_TILE * COLUMN_TILE; }

}  // namespace

Ahead::Ahead(const GuidedChain& chain, Automaton automaton, LengthWindow window, bool best, int threads)
    : chain_(chain), automaton_(checked(std::move(automaton), chain, window)), window_(std::move(window)),
      edges_(automaton_edges(automaton_)), first_edge_(automaton_.num_states() + 1, 0),
      live_(automaton_, edges_, window_, chain.end() != NO_WORD),
      tables_(std::size_t{window_.longest} + 1), widths_(std::size_t{window_.longest} + 1, 0),
      log_scale_(std::size_t{window_.longest} + 1) {
  for (const AutomatonEdge& edge : edges_) ++first_edge_[edge.from + 1];
  for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) first_edge_[q + 1] += first_edge_[q];
  double bytes = 0.0;
  for (std::uint32_t t = 1; t <= window_.longest; ++t) {
    widths_[t] = padded(live_.states(t).size());
    bytes += 8.0 * static_cast<double>(widths_[t]) * static_cast<double>(chain.num_states());
  }
  const auto masses = static_cast<double>(edges_.size() + automaton_.num_classes());
  bytes += 8.0 * masses * static_cast<double>(chain.num_states());
  if (bytes > MOST_BYTES) {
    throw ModelError("the constraint needs " + std::to_string(static_cast<long>(bytes / 1e9) + 1) +
                     " GB of memory with this model; use fewer keywords or a smaller length");
  }
  operator_ = chain.ahead(automaton_, edges_, best);
  backward(threads);
}

double Ahead::log_scale(std::uint32_t t, std::uint32_t q) const {
  const std::uint32_t column = live_.column(t, q);
  return column == DEAD ? LOG_ZERO : log_scale_[t][column];
}

AheadStep Ahead::step(std::uint32_t t, const std::vector<std::uint32_t>& states,
                      std::vector<double>& log_scales) const {
  AheadStep step;
  step.width = padded(states.size());
  step.ends.assign(states.size(), 0.0);
  step.word = window_.word(t);
  log_scales.assign(states.size(), LOG_ZERO);
  const bool goes_on = t < window_.longest && (step.word == NO_WORD || step.word != chain_.end());
  step.next_width = goes_on ? widths_[t + 1] : 0;
  for (std::uint32_t column = 0; column < states.size(); ++column) {
    const std::uint32_t q = states[column];
    const bool ends = chain_.end() != NO_WORD && live_.may_end(t, q);
    double& common = log_scales[column];
    if (ends) common = 0.0;  // sentences that end and those that go on come with scales of their own
    std::vector<AheadStep::Term> terms;
    const auto visit = [&](std::uint32_t edge, std::uint32_t to) {
      const std::uint32_t next = live_.column(t + 1, to);
      if (next == DEAD || log_scale_[t + 1][next] == LOG_ZERO) return;
      common = std::max(common, log_scale_[t + 1][next]);
      terms.push_back({column, edge, next, log_scale_[t + 1][next]});
    };
    if (goes_on && step.word != NO_WORD) {
      visit(0, automaton_.next(q, step.word));
    } else if (goes_on) {
      for (std::uint32_t e = first_edge_[q]; e < first_edge_[q + 1]; ++e) visit(e, edges_[e].to);
    }
    if (ends) step.ends[column] = std::exp(-common);
    for (AheadStep::Term& term : terms) {
      term.factor = std::exp(term.factor - common);
      step.terms.push_back(term);
    }
  }
  return step;
}

std::vector<double> Ahead::emitted(std::uint32_t t, std::uint32_t q, double& log_scale) const {
  std::vector<double> scales, result(chain_.num_states());
  const AheadStep now = step(t, {q}, scales);
  std::vector<double> columns(chain_.num_states() * now.width, 0.0);
  operator_->emit(now, now.next_width > 0 ? tables_[t + 1].data() : nullptr, columns.data());
  for (std::size_t z = 0; z < result.size(); ++z) result[z] = columns[z * now.width];
  log_scale = scales[0];
  return result;
}

void Ahead::backward(int threads) {
  const std::size_t num_states = chain_.num_states();
  for (std::uint32_t t = window_.longest; t >= 1; --t) {
    check_interrupt();
    const std::vector<std::uint32_t>& states = live_.states(t);
    std::vector<double>& table = tables_[t];
    table.assign(num_states * widths_[t], 0.0);
    if (t == window_.longest && chain_.end() == NO_WORD) {  // nothing follows the last word
      log_scale_[t].assign(states.size(), 0.0);
      for (std::size_t z = 0; z < num_states; ++z) std::fill_n(table.data() + z * widths_[t], states.size(), 1.0);
      continue;
    }
    const AheadStep now = step(t, states, log_scale_[t]);
    if (states.empty()) continue;
    operator_->apply(now, t < window_.longest ? tables_[t + 1].data() : nullptr, table.data(), threads);
    std::vector<double> most(widths_[t], 0.0);
    column_maxima(table.data(), num_states, widths_[t], most.data());
    for (std::size_t column = 0; column < states.size(); ++column) {
      double& scale = log_scale_[t][column];
      scale = most[column] > 0.0 && scale > LOG_ZERO ? scale + std::log(most[column]) : LOG_ZERO;
    }
    for (double& x : most) x = x > 0.0 ? 1.0 / x : 0.0;
    scale_columns(table.data(), num_states, widths_[t], most.data());
  }
}

NextColumns Ahead::columns(std::uint32_t t, std::uint32_t q, double& log_scale) const {
  NextColumns result;
  result.class_of = &automaton_.class_of;
  result.column.assign(automaton_.num_classes(), DEAD);
  result.word = window_.word(t);
  const bool ends = chain_.end() != NO_WORD && q != DEAD && live_.may_end(t, q);
  log_scale = ends ? 0.0 : LOG_ZERO;
  if (t < window_.longest && q != DEAD) {
    result.values = tables_[t + 1].data();
    result.width = widths_[t + 1];
    result.factor = log_scale_[t + 1];
    for (std::uint32_t c = 0; c < automaton_.num_classes(); ++c) {
      const std::uint32_t to = automaton_.target[std::size_t{q} * automaton_.num_classes() + c];
      const std::uint32_t column = live_.column(t + 1, to);
      if (column == DEAD || log_scale_[t + 1][column] == LOG_ZERO) continue;
      result.column[c] = column;
      log_scale = std::max(log_scale, log_scale_[t + 1][column]);
    }
  }
  if (log_scale == LOG_ZERO) log_scale = 0.0;
  // Factors of columns that nothing leads to may be above one; they are not read.
  for (double& factor : result.factor) factor = std::exp(std::min(factor - log_scale, 0.0));
  if (ends) result.end = std::exp(-log_scale);
  return result;
}

}  // namespace hiddenite::hmm
