import { cookbookAdam } from '../update/update.js';

export const optimizers = ['sgd', 'adam'] as const;
export type Optimizer = (typeof optimizers)[number];

/** Gradient of sparse parameters, and the ascent step on it. */
export type ParameterSteps = {
  readonly add: (parameter: number, gradient: number) => void;
  /** Calls back for each parameter that changes, with its change; the gradient is 0 afterwards. */
  readonly step: (change: (parameter: number, by: number) => void) => void;
};

type Settings = { readonly optimizer: Optimizer; readonly learningRate: number };

export function parameterSteps(size: number, { optimizer, learningRate }: Settings): ParameterSteps {
  return optimizer === 'sgd' ? sgd(size, learningRate) : adamSteps(size, learningRate);
}

function sgd(size: number, learningRate: number): ParameterSteps {
  const gradient = new Map<number, number>();
  return {
    add: (parameter, slope) => void gradient.set(parameter, (gradient.get(parameter) ?? 0) + slope),
    step: (change) => {
      for (const [parameter, slope] of gradient) if (slope !== 0) change(parameter, learningRate * slope);
      gradient.clear();
    },
  };
}

/** First moment below which a parameter is no longer updated: its steps shrink by a tenth each. */
const REST = 1e-9;

/** A step without a gradient is still a step, in which momentum runs on. */
function adamSteps(size: number, learningRate: number): ParameterSteps {
  const { beta1, beta2, epsilon } = cookbookAdam;
  const [gradient, first, second] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const moving = new Set<number>();
  let steps = 0;
  return {
    add: (parameter, slope) => {
      gradient[parameter]! += slope;
      if (slope !== 0) moving.add(parameter);
    },
    step: (change) => {
      steps++;
      const [bias1, bias2] = [1 - beta1 ** steps, 1 - beta2 ** steps];
      for (const parameter of moving) {
        const slope = gradient[parameter]!;
        gradient[parameter] = 0;
        first[parameter] = beta1 * first[parameter]! + (1 - beta1) * slope;
        second[parameter] = beta2 * second[parameter]! + (1 - beta2) * slope ** 2;
        const by = first[parameter] / bias1 / (Math.sqrt(second[parameter] / bias2) + epsilon);
        change(parameter, learningRate * by);
        if (Math.abs(first[parameter]) < REST) {
          moving.delete(parameter);
          first[parameter] = 0;
        }
      }
    },
  };
}
