#include "hiddenite/lm/tools/mixture.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"

namespace hiddenite::lm {

namespace {

class Mixer {
 public:
  Mixer(std::span<const NgramTable* const> tables, std::span<const double> weights)
      : tables_(tables), weights_(weights) {
    Vocabulary words;
    for (const NgramTable* table : tables) {
      for (WordId w = NUM_SPECIAL_WORDS; w < table->vocabulary.size(); ++w) words.add(table->vocabulary.word(w));
      order_ = std::max(order_, table->order);
    }
    vocabulary_ = words.reordered(words.order_by_length());
    for (const NgramTable* table : tables) {
      std::vector<WordId> own(vocabulary_.size()), shared(table->vocabulary.size());
      for (WordId w = 0; w < vocabulary_.size(); ++w) {
        own[w] = table->vocabulary.find(vocabulary_.word(w));
        if (own[w] != NO_WORD) shared[own[w]] = w;
      }
      own_.push_back(std::move(own));
      shared_.push_back(std::move(shared));
    }
  }

  NgramTable run() {
    std::vector<NgramLevel> levels;
    for (int n = 1; n <= order_; ++n) levels.push_back(n == 1 ? unigrams() : level(n));
    TableBuilder builder(std::move(vocabulary_));
    for (NgramLevel& one : levels) builder.add(std::move(one));
    NgramTable result = builder.finish();
    result.unknown_is_listed = false;
    for (const NgramTable* table : tables_) result.unknown_is_listed |= table->unknown_is_listed;
    result.begin_log_prob = tables_[0]->begin_log_prob;
    renormalize(result);
    return result;
  }

 private:
  NgramLevel unigrams() const {
    NgramLevel result;
    for (WordId w = 0; w < vocabulary_.size(); ++w) {
      result.words.push_back(w);
      result.log_prob.push_back(mixed({&w, 1}));
    }
    return result;
  }

  // The n-grams of each model that no earlier one lists.
  NgramLevel level(int n) const {
    NgramLevel result;
    result.n = n;
    std::vector<WordId> words(n);
    for (std::size_t m = 0; m < tables_.size(); ++m) {
      const NgramTable& table = *tables_[m];
      if (n > table.order) continue;
      table.for_each_ngram(n, table.level_begin[n], table.level_begin[n + 1],
                           [&](NodeId node, std::span<const WordId> own) {
        check_interrupt_at(node);
        for (int k = 0; k < n; ++k) words[k] = shared_[m][own[k]];
        for (std::size_t earlier = 0; earlier < m; ++earlier) {
          if (lists(earlier, words)) return;
        }
        result.words.insert(result.words.end(), words.begin(), words.end());
        result.log_prob.push_back(mixed(words));
      });
    }
    return result;
  }

  bool lists(std::size_t m, std::span<const WordId> words) const {
    const NgramTable& table = *tables_[m];
    if (words.size() > static_cast<std::size_t>(table.order)) return false;
    NodeId node = ROOT;
    for (const WordId w : words) {
      if (own_[m][w] == NO_WORD) return false;
      node = table.child(node, own_[m][w]);
      if (node == NO_NODE) return false;
    }
    return true;
  }

  // ln sum over m of weight_m p_m(last word | the others).
  float mixed(std::span<const WordId> words) const {
    double prob = 0.0;
    std::vector<WordId> context(words.size() - 1);
    for (std::size_t m = 0; m < tables_.size(); ++m) {
      const WordId last = own_[m][words.back()];
      if (last == NO_WORD) continue;
      for (std::size_t k = 0; k + 1 < words.size(); ++k) {
        const WordId own = own_[m][words[k]];
        context[k] = own == NO_WORD ? UNKNOWN : own;
      }
      prob += weights_[m] * std::exp(tables_[m]->conditional(last, context));
    }
    return static_cast<float>(std::log(std::min(prob, 1.0)));
  }

  std::span<const NgramTable* const> tables_;
  std::span<const double> weights_;
  Vocabulary vocabulary_;
  int order_ = 1;
  std::vector<std::vector<WordId>> own_;     // [model][shared id]
  std::vector<std::vector<WordId>> shared_;  // [model][own id]
};

}  // namespace

NgramTable mix_tables(std::span<const NgramTable* const> tables, std::span<const double> weights) {
  return Mixer(tables, weights).run();
}

std::vector<std::vector<double>> mixture_log_probs(std::span<const NgramTable* const> tables, std::string_view text,
                                                   const std::string& name) {
  std::vector<std::vector<double>> result(tables.size());
  std::vector<NodeId> states(tables.size());
  std::vector<WordId> ids(tables.size());
  const std::vector<std::string_view> lines = split_lines(text);
  const auto step = [&](bool is_known) {
    for (std::size_t m = 0; m < tables.size(); ++m) {
      const double log_prob = tables[m]->step(states[m], ids[m]);
      result[m].push_back(is_known && ids[m] == UNKNOWN ? -INFINITY : log_prob);
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % 256 == 0) check_interrupt();
    std::string_view line = i == 0 ? without_bom(lines[i]) : lines[i];
    check_text(line, name, i + 1);
    for (std::size_t m = 0; m < tables.size(); ++m) states[m] = tables[m]->start();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      bool is_known = false;
      for (std::size_t m = 0; m < tables.size(); ++m) {
        ids[m] = tables[m]->vocabulary.id_or_unknown(word);
        is_known |= ids[m] != UNKNOWN;
        if (ids[m] == SENTENCE_BEGIN || ids[m] == SENTENCE_END) {
          throw FormatError(name, i + 1, "found the word " + std::string(word) +
                                             ", expected none: sentence boundaries are added to each line; remove it");
        }
      }
      step(is_known);
    }
    std::fill(ids.begin(), ids.end(), SENTENCE_END);
    step(true);
  }
  return result;
}

}  // namespace hiddenite::lm
