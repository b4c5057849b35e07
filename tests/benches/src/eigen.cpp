// Eigen's contender: LLT::rankUpdate on the bordered matrix, the same rounds as every other peer (see peer.rs).
// Standard input: the tables, then commands, each answered with one line:
//   round N        runs N rounds, prints nanoseconds
//   learn M A      learns action A of moment M, prints 0
//   scores M       prints the mean score of every action
#include <Eigen/Cholesky>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

// The 128-layer ziggurat on xoshiro128++ that fable-core uses.
struct Normal {
  uint32_t s[4] = {1, 2, 3, 4}, inside[128];
  float width[128], height[129];

  Normal() {
    const double area = 9.91256303526217e-3;
    double x[129] = {area / std::exp(-0.5 * tail * tail), tail};
    for (int i = 2; i < 128; i++) x[i] = std::sqrt(-2 * std::log(area / x[i - 1] + std::exp(-0.5 * x[i - 1] * x[i - 1])));
    x[128] = 0;
    for (int i = 0; i < 129; i++) height[i] = std::exp(-0.5 * x[i] * x[i]);
    for (int i = 0; i < 128; i++) width[i] = x[i] / 16777216, inside[i] = 16777216 * (x[i + 1] / x[i]);
  }
  static constexpr double tail = 3.442619855899;
  static uint32_t rotate(uint32_t x, int k) { return x << k | x >> (32 - k); }
  uint32_t word() {
    uint32_t result = rotate(s[0] + s[3], 7) + s[0], t = s[1] << 9;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotate(s[3], 11);
    return result;
  }
  float uniform() { return ((word() >> 8) + 0.5f) / 16777216; }
  float operator()() {
    for (;;) {
      uint32_t bits = word(), layer = bits & 127, magnitude = bits >> 8;
      float sign = bits & 128 ? -1 : 1, x = magnitude * width[layer];
      if (magnitude < inside[layer]) return sign * x;
      if (layer == 0) {
        float a, b;
        do a = -std::log(uniform()) / tail, b = -std::log(uniform());
        while (b + b < a * a);
        return sign * float(tail + a);
      }
      if (height[layer] + uniform() * (height[layer + 1] - height[layer]) < std::exp(-0.5f * x * x)) return sign * x;
    }
  }
};

template <class T>
struct Peer {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  static constexpr int WIDTH = 12;
  struct Moment {
    int task;
    std::vector<T> factors, baselines, rewards;
  };
  int dimension, tasks, actions, signals;
  T precision, weight, nu;
  std::vector<uint8_t> features, source;
  std::vector<Moment> moments;
  Eigen::LLT<Matrix> factor;
  Normal normal;
  Vector theta, vector, scaled;
  size_t turn = 0;

  Peer() {
    int count;
    std::cin >> dimension >> tasks >> actions >> signals >> count >> precision >> weight >> nu;
    read(features, tasks * actions * WIDTH);
    read(source, dimension);
    moments.resize(count);
    for (auto& moment : moments) {
      std::cin >> moment.task;
      read(moment.factors, signals + 1);
      read(moment.baselines, actions);
      read(moment.rewards, actions);
    }
    Matrix start = precision * Matrix::Identity(dimension + 1, dimension + 1);
    factor.compute(start);
    theta = vector = Vector::Zero(dimension + 1);
    scaled = Vector::Zero(256);
  }
  template <class N>
  static void read(std::vector<N>& numbers, size_t count) {
    numbers.resize(count);
    for (auto& number : numbers) {
      double value;
      std::cin >> value;
      number = N(value);
    }
  }
  const uint8_t* row(const Moment& moment, int action) const {
    return &features[(size_t(moment.task) * actions + action) * WIDTH];
  }
  void draw(T scale) {
    auto x = theta.head(dimension);
    const auto& l = factor.matrixLLT();
    x = scale * x + l.row(dimension).head(dimension).transpose();
    l.topLeftCorner(dimension, dimension).template triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  }
  template <class Take>
  void score(const Moment& moment, Take take) {
    for (int i = 0; i < dimension; i++) scaled[i] = theta[i] * moment.factors[source[i]];
    for (int action = 0; action < actions; action++) {
      const uint8_t* at = row(moment, action);
      T even = moment.baselines[action], odd = 0;
      for (int i = 0; i < WIDTH; i += 2) even += scaled.data()[at[i]], odd += scaled.data()[at[i + 1]];
      take(action, even + odd);
    }
  }
  int decide(const Moment& moment) {
    for (int i = 0; i < dimension; i++) theta[i] = normal();
    draw(nu);
    int best = 0;
    T highest = -INFINITY;
    score(moment, [&](int action, T score) {
      if (score > highest) highest = score, best = action;
    });
    return best;
  }
  void learn(const Moment& moment, int action) {
    vector.setZero();
    const uint8_t* at = row(moment, action);
    for (int i = 0; i < WIDTH; i++)
      if (at[i] < dimension) vector[at[i]] = moment.factors[source[at[i]]];
    vector[dimension] = moment.rewards[action] - moment.baselines[action];
    factor.rankUpdate(vector, weight);
  }
  int serve() {
    std::string command;
    while (std::cin >> command) {
      size_t number;
      std::cin >> number;
      if (command == "round") {
        auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i < number; i++) {
          const Moment& moment = moments[turn++ % moments.size()];
          learn(moment, decide(moment));
        }
        auto end = std::chrono::steady_clock::now();
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
      } else if (command == "learn") {
        int action;
        std::cin >> action;
        learn(moments[number], action);
        std::cout << 0;
      } else {
        draw(0);
        score(moments[number], [](int, T score) { std::cout << score << ' '; });
      }
      std::cout << std::endl;
    }
    return 0;
  }
};

int main(int, char** arguments) {
  std::ios::sync_with_stdio(false);
  std::cout.precision(17);
  return std::strcmp(arguments[1], "f32") ? Peer<double>().serve() : Peer<float>().serve();
}
