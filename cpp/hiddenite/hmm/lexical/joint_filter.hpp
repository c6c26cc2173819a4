// All hidden states of several chains together, beside a lexical route whose numbers are given: for training.
//
// The same recursion as lexical.hpp, with no state left out: p(z_1 .. z_M | words so far) is an array with an axis
// for each chain. A word weighs it by P(w | z_1 .. z_M) and then multiplies each axis by R_m, K^(M+1) M
// multiplications in all.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/hmm/lexical/contexts.hpp"
#include "hiddenite/hmm/model.hpp"

namespace hiddenite::hmm {

struct JointFilter {
  std::vector<double> hidden;     // [m * tokens + t]: sum over z of p(z | before) a_m(z, w)
  std::vector<double> log_prob;   // [t]
  std::vector<float> occupancy;   // [x * stride + z_1 K_2 .. K_M + ...]: sum of p(z | words so far) at context x
  std::size_t stride = 0;
};

struct LexicalRoute {
  std::span<const float> lexical, gamma;  // [token], </s> included
};

// Occupancy is counted only if a tree is given; then there is one thread.
JointFilter joint_filter(const std::vector<const SparseHmm*>& chains, const std::vector<double>& chain_weight,
                         const TokenText& text, const LexicalRoute& route, const ContextTree* tree, int threads);

struct KeptStates {
  std::vector<std::uint64_t> begin;   // [x]
  std::vector<std::uint16_t> places;  // [s * M + m]
};

// The most occupied states: `most` in all, but at least one for each context. A context's visits n count as n^0.7.
KeptStates keep_states(const std::vector<const SparseHmm*>& chains, const ContextTree& tree,
                       const JointFilter& filter, std::uint64_t most);
// All states of every context.
KeptStates keep_all(const std::vector<const SparseHmm*>& chains, const ContextTree& tree);

}  // namespace hiddenite::hmm
