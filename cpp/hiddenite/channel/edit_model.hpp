// A learnt model of slips: p_edit(seen | intended), summed over all alignments.
//
// A word is written piece by piece from the left. A piece is one or two intended
// characters, which come out as none, one or two seen ones; the end of the word,
// `$`, is an intended character too, so that «final e is dropped» is one piece
// and letters may be added at the end. With l the intended character before the
// piece and c its first character, n the expected counts of training:
//   p(piece | l, c) = (n(l, piece) + 8 p(piece | c)) / (N(l, c) + 8)
//   p(piece | c)    = (n(piece) + 30 prior(piece)) / (N(c) + 30)
// The prior (edit_prior.hpp) knows keyboards and sounds, or shapes of letters,
// so that a model without any counts is a usable one.
//
// p_edit(o | w) is the sum over all ways to cut w$ and o into pieces:
//   A_0[0] = 1,  A_i[j] = sum over k = 0 .. 2 of
//      A_(i-1)[j-k] p(w_i -> o_(j-k+1 .. j))  +  A_(i-2)[j-k] p(w_(i-1) w_i -> o_(j-k+1 .. j))
//
// Which door to take:
//   one pair               EditModel::log_prob
//   all words of a list    edit_search.hpp
//   counts from pairs      edit_training.hpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/channel/edit_prior.hpp"

namespace hiddenite::channel {

using Letters = std::vector<Letter>;

class EditModel {
 public:
  // `keys` and `counts` are n(l, piece), as EditTraining gives them; none: the prior alone. Throws ModelError.
  EditModel(Alphabet alphabet, SlipKind kind, std::span<const std::uint64_t> keys, std::span<const double> counts);

  const Alphabet& alphabet() const { return alphabet_; }
  SlipKind kind() const { return prior_.kind(); }
  double prob(Letter left, Edit edit) const;
  // The probabilities of a piece against each place j of a seen word: out[k, j] is that of the k characters before j.
  void fill_row(Letter left, Letter a, Letter b, const Letters& seen, double* out) const;
  // No left neighbour gives it more.
  double most(Edit edit) const;
  double log_prob(std::u32string_view intended, std::u32string_view seen) const;
  double prob(const Letters& intended, const Letters& seen) const;

  // What bounds the rest of a seen word, see edit_search.hpp: the most that pieces are worth against what they leave
  // of it, over all pieces and over those whose intended characters lack a seen one.
  struct RestBounds {
    std::vector<double> one, one_without;  // [x]: seen as x
    std::vector<double> two, two_without;  // [x, y]: seen as x y; without: x or y is lacking
    std::vector<double> typical, typical_without;  // [x]: the same as a guess, whatever stands before
    std::vector<double> pair0;             // [c]: max over b of most(cb -> nothing),
    std::vector<double> pair1;             // [c, x],
    std::vector<double> pair2;             // [c, x, y]
  };
  const RestBounds& rest() const { return rest_; }

  static std::uint64_t key(Letter left, Edit edit) { return std::uint64_t{left} << 32 | edit.key(); }

 private:
  struct SeenAs {
    Letter x, y;
    double prob;
  };
  void take_counts(std::span<const std::uint64_t> keys, std::span<const double> counts);
  void fill_tables();
  void group_rows(std::span<const std::uint64_t> keys);
  void bound_rest();
  double rest_of(Letter c, Letter b) const;
  void bound_pieces_of(Letter c);
  void bound_two(Edit edit, double as_two);
  void bound_single(Letter left, Letter c);
  // Pieces of two characters seen as two are many: only what differs from the prior's form is listed.
  static bool is_listed_form(Edit edit) { return edit.b != Alphabet::NOTHING && edit.y != Alphabet::NOTHING; }
  std::size_t place(Edit edit) const {  // of the others, in tables
    const std::size_t n = alphabet_.size();
    return edit.b == Alphabet::NOTHING ? (edit.a * n + edit.x) * n + edit.y
                                       : n * n * n + (edit.a * n + edit.b) * n + edit.x;
  }
  double base(Edit edit) const;

  Alphabet alphabet_;
  EditPrior prior_;
  FlatMap listed_, place_with_left_;
  std::vector<double> base_, most_;                // [place]; the second is empty if nothing was learnt
  std::vector<double> listed_base_, listed_most_;  // [listed]
  std::vector<std::uint32_t> listed_keys_;
  std::vector<SeenAs> listed_rows_, left_rows_;    // the same, grouped: [a, b] and [left, a, b],
  std::vector<std::uint32_t> listed_begin_, left_begin_;  // which begin here
  std::vector<double> with_left_;                  // [place with left]
  std::vector<double> scale_;                      // [left, c]: 8 / (N(l, c) + 8)
  std::vector<double> scale_of_first_;             // [c]: 30 / (N(c) + 30)
  RestBounds rest_;
};

// The probabilities of pieces against one seen word, worked out when first asked for: one thread's memory.
class EditRows {
 public:
  void set(const EditModel& model, const Letters& seen);
  std::size_t length() const { return seen_.size(); }
  // Rows have two zeros before their first cell: cell j is row[j + 2].
  std::size_t stride() const { return seen_.size() + 3; }
  // next = the row behind one more intended character c, from those before it.
  void advance(const double* row, const double* before, Letter left_of_last, Letter last, Letter c, double* next);
  // The probability that the word ends behind `row`.
  double finish(const double* row, const double* before, Letter left_of_last, Letter last);

 private:
  const double* one(Letter left, Letter c);
  const double* two(Letter left, Letter c, Letter b);

  const EditModel* model_ = nullptr;
  Letters seen_;
  std::size_t num_letters_ = 0;
  std::vector<double> memory_;
  std::vector<std::uint32_t> one_, two_;          // [left, c], [left, c, b]: place in memory_, or ABSENT
  std::vector<std::uint32_t> used_one_, used_two_;
};

}  // namespace hiddenite::channel
