#include "hiddenite/lm/tools/rebuild.hpp"

#include <algorithm>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lm {

Vocabulary copy_words(const Vocabulary& words) {
  std::vector<WordId> order(words.size());
  std::iota(order.begin(), order.end(), WordId{0});
  return words.reordered(order);
}

double log_backoff_of(const FreeMass& mass) {
  if (mass.suffix <= LEAST_MASS) return 0.0;  // all words are listed: the weight is never used
  return std::log(std::max(mass.own, LEAST_MASS) / mass.suffix);
}

void renormalize(NgramTable& table) {
  for (NodeId s = 1; s < table.num_contexts(); ++s) {
    check_interrupt_at(s);
    table.log_backoff[s] = static_cast<float>(log_backoff_of(free_mass(table, s, [](NodeId) { return true; })));
  }
  fill_max_columns(table);
}

namespace {

void copy_facts(const NgramTable& from, NgramTable& to) {
  to.unknown_is_listed = from.unknown_is_listed;
  to.begin_log_prob = from.begin_log_prob;
}

}  // namespace

NgramTable rebuild(const NgramTable& table, const std::function<bool(NodeId)>& keeps, const NodeNumber& log_prob,
                   const NodeNumber& log_backoff) {
  TableBuilder builder(copy_words(table.vocabulary));
  for (int n = 1; n <= table.order; ++n) {
    NgramLevel level;
    level.n = n;
    table.for_each_ngram(n, table.level_begin[n], table.level_begin[n + 1],
                         [&](NodeId node, std::span<const WordId> words) {
      check_interrupt_at(node);
      if (n > 1 && !keeps(node)) return;
      level.words.insert(level.words.end(), words.begin(), words.end());
      level.log_prob.push_back(log_prob(node));
      if (n < table.order) level.log_backoff.push_back(log_backoff(node));
    });
    builder.add(std::move(level));
  }
  NgramTable result = builder.finish();
  copy_facts(table, result);
  return result;
}

NgramTable weigh_table(const NgramTable& table, double weight, bool begins) {
  if (!(weight >= 0.0 && std::isfinite(weight))) {
    throw ModelError("the model's weight is " + std::to_string(weight) + ", expected a number of at least 0");
  }
  const NodeId start = 1 + SENTENCE_BEGIN;
  // The n-grams that begin with <s>, of each level: a range.
  std::vector<std::pair<NodeId, NodeId>> begun(table.order + 1, {0, 0});
  if (!begins) {
    for (int n = 2; n <= table.order; ++n) {
      const auto [first, last] = n == 2 ? std::pair(start, start + 1) : begun[n - 1];
      begun[n] = {table.first_child[first], table.first_child[last]};
    }
  }
  const auto keeps = [&](NodeId node) {
    return std::none_of(begun.begin(), begun.end(),
                        [&](const auto& range) { return range.first <= node && node < range.second; });
  };
  const auto weighed = [&](float log) {
    return std::isinf(log) ? log : static_cast<float>(weight * double{log});
  };
  return rebuild(
      table, keeps, [&](NodeId node) { return weighed(table.log_prob[node]); },
      [&](NodeId node) { return !begins && node == start ? 0.0F : weighed(table.log_backoff[node]); });
}

NgramTable limit_order(const NgramTable& table, int order) {
  if (order < 1 || order > table.order) throw ModelError("the model has no such order");
  TableBuilder builder(copy_words(table.vocabulary));
  for (int n = 1; n <= order; ++n) {
    NgramLevel level;
    level.n = n;
    table.for_each_ngram(n, table.level_begin[n], table.level_begin[n + 1],
                         [&](NodeId node, std::span<const WordId> words) {
      check_interrupt_at(node);
      level.words.insert(level.words.end(), words.begin(), words.end());
      level.log_prob.push_back(table.log_prob[node]);
      if (n < order) level.log_backoff.push_back(table.log_backoff[node]);
    });
    builder.add(std::move(level));
  }
  NgramTable result = builder.finish();
  copy_facts(table, result);
  return result;
}

namespace {

class Filter {
 public:
  Filter(const NgramTable& table, const std::vector<std::string>& words) : t_(table), new_id_(words_to_keep(words)) {}

  NgramTable run(bool with_renormalization) {
    if (with_renormalization) {
      sum_contexts();
    } else {
      log_z_.assign(t_.num_contexts(), 0.0);
    }
    TableBuilder builder(std::move(vocabulary_));
    for (int n = 1; n <= t_.order; ++n) builder.add(level(n));
    NgramTable result = builder.finish();
    copy_facts(t_, result);
    return result;
  }

 private:
  std::vector<WordId> words_to_keep(const std::vector<std::string>& words) {
    std::vector<bool> keep(t_.vocabulary.size(), false);
    for (WordId w = 0; w < NUM_SPECIAL_WORDS; ++w) keep[w] = true;
    std::size_t found = 0;
    for (const std::string& word : words) {
      const WordId w = t_.vocabulary.find(word);
      if (w == NO_WORD || keep[w]) continue;
      keep[w] = true;
      ++found;
    }
    if (found == 0) throw ModelError("none of the words to keep is in the model");
    std::vector<WordId> order, new_id(t_.vocabulary.size(), NO_WORD);
    for (WordId w = 0; w < keep.size(); ++w) {
      if (!keep[w]) continue;
      new_id[w] = static_cast<WordId>(order.size());
      order.push_back(w);
    }
    vocabulary_ = t_.vocabulary.reordered(order);
    return new_id;
  }

  bool keeps(NodeId arc) const { return new_id_[t_.word[arc]] != NO_WORD; }

  // ln Z of each context, from the shortest: what the listed words have, and through the back-off weight what the
  // suffix has without them.
  void sum_contexts() {
    log_z_.resize(t_.num_contexts());
    std::vector<double> z(t_.num_contexts());
    for (NodeId s = 0; s < t_.num_contexts(); ++s) {
      check_interrupt_at(s);
      double listed = 0.0, covered = 0.0;
      for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
        if (!keeps(a)) continue;
        listed += std::exp(double{t_.log_prob[a]});
        if (s != ROOT) covered += std::exp(double{t_.log_prob[t_.suffix[a]]});
      }
      const double below = s == ROOT ? 0.0 : std::max(z[t_.suffix[s]] - covered, 0.0);
      const double rest = below > 0.0 ? below * std::exp(double{t_.log_backoff[s]}) : 0.0;
      z[s] = listed + rest;
      log_z_[s] = z[s] > 0.0 ? std::log(z[s]) : 0.0;
    }
  }

  NgramLevel level(int n) const {
    NgramLevel result;
    result.n = n;
    NodeId parent = t_.level_begin[n - 1];
    t_.for_each_ngram(n, t_.level_begin[n], t_.level_begin[n + 1], [&](NodeId node, std::span<const WordId> words) {
      check_interrupt_at(node);
      while (node >= t_.first_child[parent + 1]) ++parent;
      for (const WordId w : words) {
        if (new_id_[w] == NO_WORD) return;
      }
      for (const WordId w : words) result.words.push_back(new_id_[w]);
      // A quotient that is 1 on paper may come out above it.
      const double log_prob = t_.log_prob[node] - log_z_[parent];
      result.log_prob.push_back(static_cast<float>(log_z_[parent] == 0.0 ? log_prob : std::min(log_prob, 0.0)));
      if (n == t_.order) return;
      result.log_backoff.push_back(static_cast<float>(t_.log_backoff[node] + log_z_[t_.suffix[node]] - log_z_[node]));
    });
    return result;
  }

  const NgramTable& t_;
  Vocabulary vocabulary_;
  std::vector<WordId> new_id_;  // [word]; NO_WORD: left out
  std::vector<double> log_z_;   // [context]
};

}  // namespace

NgramTable filter_words(const NgramTable& table, const std::vector<std::string>& words, bool with_renormalization) {
  return Filter(table, words).run(with_renormalization);
}

}  // namespace hiddenite::lm
