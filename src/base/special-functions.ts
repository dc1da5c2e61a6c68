/** Probabilities and quantiles of the beta, Student's and the normal distribution. */

/** The quantile of the beta distribution. @param u Between 0 and 1, both excluded. */
export function betaQuantile(u: number, a: number, b: number): number {
  let low = 0;
  let high = 1;
  // Bisection works for any shape, and a sweep has few draws.
  for (let round = 0; round < 200 && high > low; round += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (betaProbability(middle, a, b) < u) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularised incomplete beta function. */
export function betaProbability(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges fast on the near side of the mean only; the other side follows by symmetry.
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

/** The limit that the absolute value of a variable of Student's distribution exceeds with a probability of `share`. @param degrees Degrees of freedom. */
export function studentLimit(share: number, degrees: number): number {
  const x = betaQuantile(share, degrees / 2, 0.5);
  return Math.sqrt((degrees * (1 - x)) / x);
}

/** The continued fraction of the incomplete beta function, by Lentz's method. */
function fraction(x: number, a: number, b: number): number {
  const nonzero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 1000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / nonzero(1 + term * d);
      c = nonzero(1 + term / c);
      change = c * d;
      value *= change;
    }
    if (Math.abs(change - 1) < 1e-15) break;
  }
  return value;
}

/** The logarithm of the gamma function by Lanczos, with g = 7 and nine terms: about 15 digits. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const base = x + 6.5;
  const sum = lanczos.reduce((total, term, index) => (index === 0 ? term : total + term / (x - 1 + index)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum);
}

/** Coefficients of Wichura's algorithm AS 241 (PPND16), exact to about 16 digits, from the highest power down. */
const centre = {
  above: [
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
    1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
  ],
  below: [
    5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
    687.1870074920579083, 42.313330701600911252, 1,
  ],
};
const middle = {
  above: [
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
  ],
  below: [
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1,
  ],
};
const tail = {
  above: [
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
  ],
  below: [
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1,
  ],
};

/** The quantile of the standard normal distribution. @param u Between 0 and 1, both excluded. */
export function normalQuantile(u: number): number {
  const q = u - 0.5;
  if (Math.abs(q) <= 0.425) return q * ratio(centre, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? u : 1 - u));
  const value = r <= 5 ? ratio(middle, r - 1.6) : ratio(tail, r - 5);
  return q < 0 ? -value : value;
}

/**
 * The probability that a standard normal variable lies below `z`, to about 15 digits: G. West, "Better approximations to
 * cumulative normal functions" (2005), after Hart.
 */
export function normalProbability(z: number): number {
  const x = Math.abs(z);
  const density = Math.exp((-x * x) / 2);
  const upper =
    x < 5 * Math.SQRT2
      ? density * ratio(west, x)
      : density / (Math.sqrt(2 * Math.PI) * (x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))));
  return z > 0 ? 1 - upper : upper;
}

/** The density of a standard normal variable at `z`. */
export function normalDensity(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

const west = {
  above: [
    3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
    220.206867912376,
  ],
  below: [
    8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
    793.826512519948, 440.413735824752,
  ],
};

function ratio({ above, below }: { above: readonly number[]; below: readonly number[] }, x: number): number {
  return polynomial(above, x) / polynomial(below, x);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}
