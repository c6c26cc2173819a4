#include "hiddenite/hmm/guide/automaton.hpp"

#include <algorithm>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::hmm {

void Automaton::check(WordId num_words) const {
  bool fits = !accepts.empty() && start < num_states() && class_of.size() == num_words &&
              target.size() == std::size_t{num_classes()} * num_states() && !target.empty();
  for (const std::uint32_t q : target) fits &= q == DEAD || q < num_states();
  for (const std::uint32_t c : class_of) fits &= c < num_classes();
  if (!fits) throw ModelError("the arrays of an automaton do not fit");
}

std::vector<AutomatonEdge> automaton_edges(const Automaton& automaton) {
  std::vector<AutomatonEdge> edges;
  std::vector<std::uint32_t> edge_to(automaton.num_states());
  for (std::uint32_t q = 0; q < automaton.num_states(); ++q) {
    std::fill(edge_to.begin(), edge_to.end(), DEAD);
    for (std::uint32_t c = 0; c < automaton.num_classes(); ++c) {
      const std::uint32_t to = automaton.target[std::size_t{q} * automaton.num_classes() + c];
      if (to == DEAD) continue;
      if (edge_to[to] == DEAD) {
        edge_to[to] = static_cast<std::uint32_t>(edges.size());
        edges.push_back({q, to, {}});
      }
      edges[edge_to[to]].classes.push_back(c);
    }
  }
  return edges;
}

LivePairs::LivePairs(const Automaton& automaton, const std::vector<AutomatonEdge>& edges, const LengthWindow& window,
                     bool has_end)
    : num_states_(automaton.num_states()), shortest_(has_end ? window.shortest : window.longest),
      accepts_(automaton.accepts), states_(std::size_t{window.longest} + 1),
      column_(std::size_t{window.longest + 1} * num_states_, DEAD) {
  const std::size_t states = num_states_;
  std::vector<bool> reached(column_.size(), false), useful(column_.size(), false);
  // follow(t, visit): all moves of the automaton from t to t + 1.
  const auto follow = [&](std::uint32_t t, auto visit) {
    check_interrupt();
    if (const WordId w = window.word(t); w != NO_WORD) {
      for (std::uint32_t q = 0; q < num_states_; ++q) {
        if (const std::uint32_t to = automaton.next(q, w); to != DEAD) visit(q, to);
      }
    } else {
      for (const AutomatonEdge& edge : edges) visit(edge.from, edge.to);
    }
  };
  reached[automaton.start] = true;
  for (std::uint32_t t = 0; t < window.longest; ++t) {
    follow(t, [&](std::uint32_t q, std::uint32_t to) {
      if (reached[t * states + q]) reached[(t + 1) * states + to] = true;
    });
  }
  for (std::uint32_t t = window.longest + 1; t-- > 0;) {
    for (std::uint32_t q = 0; q < num_states_; ++q) {
      if (may_end(t, q)) useful[t * states + q] = true;
    }
    if (t == window.longest) continue;
    follow(t, [&](std::uint32_t q, std::uint32_t to) {
      if (useful[(t + 1) * states + to]) useful[t * states + q] = true;
    });
  }
  for (std::uint32_t t = 0; t <= window.longest; ++t) {
    for (std::uint32_t q = 0; q < num_states_; ++q) {
      if (!reached[t * states + q] || !useful[t * states + q]) continue;
      column_[t * states + q] = static_cast<std::uint32_t>(states_[t].size());
      states_[t].push_back(q);
    }
  }
}

}  // namespace hiddenite::hmm
