// A channel whose weights count more or less, and whose words cost something:
//   log_weight'(i, x) = channel_weight log_weight(i, x) + word_penalty.
// The language model's side of the same is weigh_table (lm/tools/rebuild.hpp); with both, the weight of a path is
//   sum over its words of lm_weight ln p + channel_weight log_weight + word_penalty,
// and all methods are exact for it as they are for any model and any channel.
#pragma once

#include "hiddenite/channel/channel.hpp"

namespace hiddenite::channel {

class WeightedChannel final : public Channel {
 public:
  // `channel` must outlive this. Impossible candidates stay impossible. Throws ModelError for numbers that are not
  // finite and for a weight below zero.
  WeightedChannel(const Channel& channel, double channel_weight, double word_penalty);

 protected:
  Reading read_text(std::string_view line) const override;

 private:
  const Channel& channel_;
  double channel_weight_, word_penalty_;
};

}  // namespace hiddenite::channel
