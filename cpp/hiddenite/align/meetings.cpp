#include "hiddenite/align/meetings.hpp"

#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::align {

namespace {

// The source side's tokens by word, and the sentence of each.
struct TokenIndex {
  explicit TokenIndex(const TextSide& side) : begin(side.words.size() + 1, 0), token(side.tokens.size()),
                                              sentence(side.tokens.size()) {
    if (side.tokens.size() >= NO_WORD) throw ModelError("the text has more than 4 billion words");
    for (const WordId w : side.tokens) ++begin[w + 1];
    for (std::size_t w = 1; w < begin.size(); ++w) begin[w] += begin[w - 1];
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t s = 0; s < side.num_sentences(); ++s) {
      for (std::uint64_t t = side.begin[s]; t < side.begin[s + 1]; ++t) {
        const std::uint32_t place = next[side.tokens[t]]++;
        token[place] = static_cast<std::uint32_t>(t);
        sentence[place] = static_cast<std::uint32_t>(s);
      }
    }
  }
  std::vector<std::uint32_t> begin, token, sentence;
};

// Meetings of one source word at a time.
class MeetingCounter {
 public:
  explicit MeetingCounter(const Bitext& bitext) : bitext_(bitext), index_(bitext.source),
                                                  count_(bitext.target.words.size(), 0) {}
  const TokenIndex& index() const { return index_; }
  const std::vector<WordId>& count(WordId e) {
    for (const WordId f : met_) count_[f] = 0;
    met_.clear();
    for (std::uint32_t place = index_.begin[e]; place < index_.begin[e + 1]; ++place) {
      for (const WordId f : bitext_.target.sentence(index_.sentence[place])) {
        if (count_[f]++ == 0) met_.push_back(f);
      }
    }
    return met_;
  }
  std::uint32_t meetings(WordId f) const { return count_[f]; }

 private:
  const Bitext& bitext_;
  TokenIndex index_;
  std::vector<std::uint32_t> count_;
  std::vector<WordId> met_;
};

// exp(-diagonal x) of 0 <= x <= 1, in steps.
class Closeness {
 public:
  explicit Closeness(double diagonal) : value_(STEPS + 1) {
    for (std::size_t k = 0; k <= STEPS; ++k) {
      value_[k] = std::exp(-diagonal * static_cast<double>(k) / static_cast<double>(STEPS));
    }
  }
  double operator()(double x) const { return value_[static_cast<std::size_t>(std::fabs(x) * STEPS + 0.5)]; }

 private:
  static constexpr std::size_t STEPS = 1024;
  std::vector<double> value_;
};

}  // namespace

Meetings::Meetings(const Bitext& bitext, bool string_prior) {
  const TextSide &source = bitext.source, &target = bitext.target;
  cell_begin.reserve(bitext.num_sentences() + 1);
  for (std::size_t s = 0; s < bitext.num_sentences(); ++s) {
    const std::size_t n = source.sentence(s).size(), m = target.sentence(s).size();
    cell_begin.push_back(cell_begin.back() + std::uint64_t{n} * m);
    longest = std::max({longest, n, m});
  }
  for (int side = 0; side < 2; ++side) {
    const TextSide& text = side == 0 ? source : target;
    partners[side].assign(text.words.size(), 0);
    likeness[side].assign(text.words.size(), 0.0f);
    stem_partners[side].assign(text.stems.size(), 0);
  }
  std::vector<std::vector<WordId>> words_of_stem(source.stems.size());
  for (WordId e = 0; e < source.words.size(); ++e) words_of_stem[source.stem_of_word[e]].push_back(e);
  MeetingCounter counter(bitext);
  std::vector<WordId> last_stem(target.stems.size(), NO_WORD);  // the source stem that met it last
  for (WordId stem = 0; stem < words_of_stem.size(); ++stem) {
    for (const WordId e : words_of_stem[stem]) {
      check_interrupt();
      for (const WordId f : counter.count(e)) {
        ++partners[0][e], ++partners[1][f];
        const WordId other = target.stem_of_word[f];
        if (last_stem[other] != stem) ++stem_partners[0][stem], ++stem_partners[1][other];
        last_stem[other] = stem;
        if (!string_prior) continue;
        const auto like = static_cast<float>(spelling_likeness(source.words.word(e), target.words.word(f)));
        if (like == 0.0f) continue;
        alike.push_back({e, f, like});
        likeness[0][e] += like;
        likeness[1][f] += like;
      }
    }
  }
  alike.shrink_to_fit();
}

std::size_t Meetings::bytes() const {
  return cell_begin.size() * sizeof(std::uint64_t) + alike.size() * sizeof(AlikePair) +
         8 * (partners[0].size() + partners[1].size());
}

void draw_first_links(const Bitext& bitext, double diagonal, Random& random,
                      std::array<std::vector<std::uint32_t>*, 2> links) {
  const TextSide &source = bitext.source, &target = bitext.target;
  links[0]->assign(target.tokens.size(), 0);
  links[1]->assign(source.tokens.size(), 0);
  MeetingCounter counter(bitext);
  const Closeness closeness(diagonal);
  std::vector<float> sums(target.tokens.size(), 0.0f);  // of the weights that a target token has seen
  std::vector<double> cumulative;
  for (WordId e = 0; e < source.words.size(); ++e) {
    check_interrupt();
    if (counter.index().begin[e] == counter.index().begin[e + 1]) continue;
    counter.count(e);
    for (std::uint32_t place = counter.index().begin[e]; place < counter.index().begin[e + 1]; ++place) {
      const std::uint32_t s = counter.index().sentence[place], token = counter.index().token[place];
      const auto words = target.sentence(s);
      if (words.empty()) continue;
      const auto k = static_cast<std::uint32_t>(token - source.begin[s]);
      const double here = (k + 0.5) / static_cast<double>(source.sentence(s).size());
      const double step = 1.0 / static_cast<double>(words.size());
      cumulative.resize(words.size());
      double sum = 0.0;
      for (std::size_t t = 0; t < words.size(); ++t) {
        const double meetings = counter.meetings(words[t]);
        const double expected = static_cast<double>(source.count[e]) * target.count[words[t]];
        const double weight = meetings * meetings / expected * closeness(here - (static_cast<double>(t) + 0.5) * step);
        cumulative[t] = sum += weight;
        // Each source word takes the link with its share of what came so far: in the end each has its share of all.
        float& seen = sums[target.begin[s] + t];
        seen += static_cast<float>(weight);
        if (random.uniform() * seen < weight) (*links[0])[target.begin[s] + t] = k + 1;
      }
      (*links[1])[token] = static_cast<std::uint32_t>(1 + random.draw(cumulative));
    }
  }
}

}  // namespace hiddenite::align
