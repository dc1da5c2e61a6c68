import type { KnownSolution } from '../environments/memory/memory-environment.js';
import type { Row } from '../run/metrics-file.js';
import type { EngineService } from '../service/engine-service.js';
import { slopeAlong, type OptimizerName } from '../service/descent.js';

/**
 * How far the weights are from the answer, and how fast the optimizer can get there: the log-odds of the right answer, ln p/(1 − p) in
 * nats, and by how much they would rise per unit of the learning rate if every step went along their own gradient.
 *
 * Log-odds that have to rise by Δ therefore need Δ / (learning rate · `test/slope`) updates, times what is lost where updates go
 * elsewhere. `test/moved` is the L2 distance of the trained numbers from where they began.
 *
 * @param start The numbers at the start of the run.
 */
export async function answerSlope(
  { engine }: EngineService,
  { tokens, answerWeights }: KnownSolution,
  { optimizer, start }: { readonly optimizer: OptimizerName; readonly start: Float32Array },
): Promise<Row> {
  const first = answerWeights.indexOf(1);
  const weights = Float64Array.from(answerWeights.slice(first));
  const answer = [{ prompt: tokens.slice(0, first), continuations: [tokens.slice(first)] }];
  await engine.clearGradient();
  const { logprobs } = await engine.forward(answer);
  const logprob = logprobs.reduce((sum, each, at) => sum + each * weights[at]!, 0);
  // d ln(p/(1 − p)) = d ln p / (1 − p).
  const wrong = Math.max(-Math.expm1(logprob), Number.EPSILON);
  await engine.backward(
    weights.map((weight) => weight / wrong),
    null,
  );
  const gradient = await engine.gradient();
  await engine.clearGradient();
  const now = await engine.weights();
  return {
    'test/log_odds': logprob - Math.log(wrong),
    'test/slope': slopeAlong(engine, gradient, optimizer),
    'test/moved': Math.sqrt(now.reduce((sum, w, at) => sum + (w - start[at]!) ** 2, 0)),
  };
}
