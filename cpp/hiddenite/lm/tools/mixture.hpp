// Mixtures of n-gram models: p(w | s) = sum over m of weight_m p_m(w | s).
//
// The vocabulary is that of all models together. A word that a model does not
// list has probability zero there; in a context it is that model's <unk>. A
// word that no model lists is <unk> in all of them. So a mixture of models that
// sum to one sums to one.
//
// As a table, a mixture lists the n-grams that any of the models lists, each
// with its exact mixed probability; back-off weights make contexts sum to one.
// Only a word after a context where no model lists the two together can have
// another probability than the mixture of scores.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

// `weights` are positive and sum to one.
NgramTable mix_tables(std::span<const NgramTable* const> tables, std::span<const double> weights);

// ln p_m of each word and of each line's </s>, model after model.
std::vector<std::vector<double>> mixture_log_probs(std::span<const NgramTable* const> tables, std::string_view text,
                                                   const std::string& name);

}  // namespace hiddenite::lm
