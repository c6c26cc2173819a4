// Smoothing: what an order of a model makes of counts. c is how often an n-gram
// occurs (Kneser-Ney: its adjusted count), c(s) their sum after context s, T(s)
// the number of different words there, n_r the number of n-grams that occur r times.
//
// Interpolated, p(w | s) = kept / denominator + gamma(s) p(w | suf s):
//   KNESER_NEY   (c - D(c)) / c(s), D by kneser_ney.hpp
//   ABSOLUTE     (c - D) / c(s), D = n1 / (n1 + 2 n2) (Ney, Essen & Kneser 1994)
//   WITTEN_BELL  c / (c(s) + T(s)) (Witten & Bell 1991, method C); the word itself is interpolated with 1 / V
// Backing off, p(w | s) = kept / denominator where c > 0, else bow(s) p(w | suf s):
//   GOOD_TURING  d(c) c / c(s) (Katz 1987): up to c = m (1 for words, 7 for longer n-grams)
//                d(r) = (r* / r - a) / (1 - a), r* = (r + 1) n_(r+1) / n_r, a = (m + 1) n_(m+1) / n_1,
//                else 1. As in SRILM m is lowered until n_(m+1) > 0, and a d(r) outside of 0 to 1, or whose
//                r* is above r, is 1. A context that then leaves nothing counts one word more.
//   ADD_K        (c + k) / (c(s) + k V), V being the number of words but <s> (Lidstone)
// Words that do not occur share what Good-Turing leaves of the words' own distribution.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hiddenite/lm/counted_ngrams.hpp"

namespace hiddenite::lm {

enum class NgramSmoothing { KNESER_NEY, ABSOLUTE, WITTEN_BELL, GOOD_TURING, ADD_K };

struct Discounts {
  std::array<double, 3> d{0.5, 1.0, 1.5};
  bool closed_form = false;
  double of(std::uint64_t count) const { return count == 0 ? 0.0 : d[std::min<std::uint64_t>(count, 3) - 1]; }
};

// How one order is smoothed.
struct OrderRule {
  NgramSmoothing smoothing = NgramSmoothing::KNESER_NEY;
  Discounts discounts;               // KNESER_NEY, ABSOLUTE
  std::vector<double> coefficients;  // GOOD_TURING: d(r); beyond them 1
  double added = 0.0;                // ADD_K: k
  double num_words = 0.0;            // but <s>

  bool interpolates() const { return smoothing != NgramSmoothing::GOOD_TURING && smoothing != NgramSmoothing::ADD_K; }
  // What an n-gram keeps of its count, what it leaves to others, and both.
  double kept(std::uint64_t count) const;
  double held(std::uint64_t count) const;
  double whole(std::uint64_t count) const;
  // `held` is the sum over the context's words.
  double denominator(double total, double num_types, double held) const;
};

// The rules of all orders. Orders of a few n-grams have no discounts of their own (closed_form is false): Kneser-Ney
// then takes 0.5, 1 and 1.5, absolute discounting 0.5.
std::vector<OrderRule> make_rules(const std::vector<CountedLevel>& levels, NgramSmoothing smoothing, double added,
                                  const LastNgrams& last);

}  // namespace hiddenite::lm
