import { rng, type Rng } from '../../rng.js';
import { rollOut, type Player, type Rollout } from '../../rollouts/rollouts.js';
import { endingId } from '../../text/memory-vocabulary.js';
import { response } from '../../text/role-colon.js';
import type { AnswerFormat } from './answer-format.js';
import { multiStepEnvironment, singleStepEnvironment, type MemoryEnvironment } from './memory-environment.js';

/** Sampling settings of the preview. `count`: samples of each N. */
type Preview = {
  readonly kind: 'single_step' | 'multi_step';
  readonly format: AnswerFormat;
  readonly count: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed: number;
};

/** A line about a warmed-up model's answers for a number below N, or for its bits. */
export async function previewLine(service: Player['service'], N: number, preview: Preview): Promise<string> {
  const random = rng(preview.seed, `preview/${N}`);
  const line = preview.kind === 'single_step' ? numbersLine : bitsLine;
  return `N=${N}: ${await line(service, N, preview, random)}`;
}

/** `20 samples · 19 legal, 1 out of range, 0 no number · 18 different, 4.11 bits of 4.25`. */
async function numbersLine(service: Player['service'], N: number, preview: Preview, random: Rng): Promise<string> {
  const environment = singleStepEnvironment({ N, secret: 0, prefix: [], format: preview.format }, { type: 'binary' });
  const episodes = await sample(service, environment, preview, random);
  const counts = new Map<number, number>();
  let outside = 0;
  for (const { turns } of episodes) {
    const value = environment.reading(turns);
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    else if (/^\s*[0-9]+\s*$/.test(response(turns[0]!.tokens, endingId).text)) outside++;
  }
  const legal = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entropy = [...counts.values()].reduce((sum, count) => sum - (count / legal) * Math.log2(count / legal), 0);
  const most = Math.log2(Math.max(1, Math.min(N, legal)));
  return [
    `${episodes.length} samples`,
    `${legal} legal, ${outside} out of range, ${episodes.length - legal - outside} no number`,
    `${counts.size} different, ${entropy.toFixed(2)} bits of ${most.toFixed(2)}`,
  ].join(' · ');
}

/** Whole conversations, each against a secret of its own: `10 conversations · 100.0 % of bits legal · 51.2 % right · 0 whole`. */
async function bitsLine(service: Player['service'], N: number, preview: Preview, random: Rng): Promise<string> {
  const sums = { turns: 0, legal: 0, right: 0, whole: 0 };
  for (let index = 0; index < preview.count; index++) {
    const environment = multiStepEnvironment({ N, secret: random.below(N), prefix: [] });
    const [episode] = await sample(service, environment, { ...preview, count: 1 }, random);
    for (const { metrics } of episode!.rewards) {
      sums.turns++;
      sums.legal += 1 - metrics!['format_error']!;
      sums.right += metrics!['correct_bit']!;
      sums.whole += metrics!['success_count']!;
    }
  }
  const percent = (count: number) => `${((100 * count) / sums.turns).toFixed(1)} %`;
  return `${preview.count} conversations · ${percent(sums.legal)} of bits legal · ${percent(sums.right)} right · ${sums.whole} whole`;
}

async function sample(
  service: Player['service'],
  environment: MemoryEnvironment,
  preview: Preview,
  random: Rng,
): Promise<Rollout[]> {
  const { count: copies, temperature, maxTokens } = preview;
  const options = { copies, sampling: { maxTokens, temperature }, streams: 'shared' } as const;
  return (await rollOut({ service, environment }, [environment.task()], options, random)).flat();
}
