import type { Environment, Task } from '../environments/environment.js';
import { taskOf } from '../rollouts/rollouts.js';
import type { Row } from '../run/metrics-file.js';
import type { TrainingService } from '../service/service.js';
import { bits } from './bits-known.js';

/** The most tasks whose answers are measured one by one. */
const mostTasks = 100;

/**
 * Information about all answers of an environment in the weights, in bits, and the probability of each right answer.
 * Empty unless the environment has a known number of tasks whose answers have a size in bits.
 *
 * Teacher forcing: one forward pass over the right answers, ends included.
 */
export async function answersKnown(
  service: Pick<TrainingService, 'forward'>,
  environment: Environment,
  seed: number,
): Promise<Row> {
  if (environment.size > mostTasks || environment.solution === undefined) return {};
  const tasks = Array.from({ length: environment.size }, (_, at) => taskOf(environment, at, { seed, name: 'task' }));
  const asked = tasks.flatMap((task) => knownAnswer(environment, task));
  if (asked.length < tasks.length) return {};
  const logprobs = await service.forward(asked.map(({ datum }) => datum));
  const measured = asked.map(({ id, most }, at) => {
    const logprob = logprobs[at]!.reduce((sum, each) => sum + each, 0);
    return { id, most, known: Math.min(most, Math.max(0, bits(logprob, most))), accuracy: Math.exp(logprob) };
  });
  const sum = (of: (each: (typeof measured)[number]) => number) => measured.reduce((all, each) => all + of(each), 0);
  return {
    'test/answers/bits_known': sum(({ known }) => known),
    'test/answers/known': sum(({ known, most }) => Number(known >= 0.95 * most)),
    'test/answers/accuracy': sum(({ accuracy }) => accuracy) / measured.length,
    ...Object.fromEntries(measured.map(({ id, accuracy }) => [`test/answers/accuracy/${id}`, accuracy])),
  };
}

function knownAnswer(environment: Environment, task: Task) {
  const solution = environment.solution!(task);
  if (solution === null || solution.bits === null) return [];
  const { tokens, weights, bits: most } = solution;
  const from = task.prompt.length;
  return [
    { id: task.id, most, datum: { prompt: task.prompt, tokens: tokens.slice(from), weights: weights.slice(from) } },
  ];
}
