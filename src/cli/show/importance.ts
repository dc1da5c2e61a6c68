import type { GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import { type Importance, importanceSteps } from '../../analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../analysis/parameters/seeded-random.js';
import { isBroken } from '../../base/run-words.js';
import { finished } from '../../base/steps.js';
import type { RunSummary } from '../../client/fleet.js';
import { counted } from '../../text/numbers.js';
import type { Answers } from '../answers/schemas.js';

/** Parameters in the sentence, at most. */
const SHOWN = 5;

/** How much each parameter matters for the metric of an answer, over the runs of its group that are done. */
export function importanceFor(
  { group, answer: { metric, goal } }: GroupAnswer,
  runs: readonly RunSummary[],
  fromSeeds: readonly string[],
): Importance {
  const done = runs.filter((run) => run.state === 'done' && (group === null || run.group === group));
  const measured = done.map((run) => ({
    ...{ parameters: run.parameters, group: run.group, isBroken: isBroken(run) },
    objective: metric in run.metrics ? (run.metrics[metric] ?? Number.NaN) : null,
  }));
  return finished(importanceSteps({ runs: measured, goal, fromSeeds }, seededRandom(1)));
}

export function importanceJson(importance: Importance): NonNullable<Answers['best'][number]['importance']> | null {
  if (importance.kind !== 'measured') return null;
  const { explained, isNoise, parameters, pairs } = importance;
  return {
    ...{ explained, noise: isNoise },
    parameters: parameters.map(({ name, share, spread, trend, aliases }) => {
      return { name, share, spread, trend, aliases: [...aliases] };
    }),
    pairs: pairs.map(({ names, share }) => ({ names: [...names], share })),
  };
}

export function importanceSentence(importance: Importance, metric: string): string {
  switch (importance.kind) {
    case 'too few runs':
      return `Which parameters matter is not known: ${counted(importance.counts.finite, 'run')} with a value, ${importance.needed} are needed.`;
    case 'one objective':
      return `Which parameters matter is not known: all runs have the same ${metric}.`;
    case 'no parameter':
      return 'No parameter differs between these runs.';
    case 'measured':
      return shares(importance, metric);
  }
}

function shares({ parameters, isNoise, explained }: Extract<Importance, { kind: 'measured' }>, metric: string): string {
  if (isNoise)
    return `No parameter can be seen to matter for ${metric}: a random forest predicts unseen runs no better than chance.`;
  const said = parameters
    .slice(0, SHOWN)
    .map(({ name, share, spread }) => `${name} ${percent(share)} ± ${percent(spread)}`);
  const more = parameters.length > SHOWN ? `, and ${parameters.length - SHOWN} less` : '';
  return `Of the variance of ${metric} the parameters make up: ${said.join(', ')}${more}; together with their interactions ${percent(explained)}.`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
