import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { signalBits } from '../environments/memory/rules.js';
import { conditionName } from '../environments/memory/task.js';
import { type Evaluation, judge } from '../study/memory/verdict.js';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { countText, shortNumber } from '../../text/numbers.js';
import { advantageEstimators } from '../advantages/advantages.js';
import { rewardTypes } from '../environments/memory/rewards.js';
import { conditionOf, type LabCondition } from './conditions.js';
import { Observer } from './observer.js';
import { EpisodesRow, episodesIn } from './observed-episode.js';

/** Bits revealed to a run and learnt by it. Counts are episodes. */
type Observed = {
  readonly condition: LabCondition;
  readonly N: number;
  readonly secretBits: number;
  readonly episodes: number;
  /** Episodes after which only one secret was possible; null while more than one is. */
  readonly determinedAfter: number | null;
  /** Bits that the observer knows in the end. */
  readonly bitsKnown: number;
  /** Episodes from which on the weights knew 95 % of the bits at every evaluation; null when there is no such point. */
  readonly memorisedAfter: number | null;
  /** Bits known to the observer, by episodes, at each change. */
  readonly curve: readonly { readonly episodes: number; readonly bits: number }[];
};

/**
 * Shows the episodes of a run to an ideal observer.
 * @throws UserError when the episodes were not recorded, or not from the start of the run.
 */
export function observeRun(run: string): Observed {
  const config = configOf(run);
  const condition = conditionOf(config);
  const observer = new Observer(condition, config.N);
  const curve = [{ episodes: 0, bits: observer.bitsKnown }];
  for (const row of episodeRows(run)) {
    const seen = episodesIn(row, config.N);
    if (seen === null) throw damagedEpisodes(run, `the row of step ${row.step} is not one of this game`);
    for (const episode of seen) {
      observer.note(episode);
      if (observer.bitsKnown !== curve.at(-1)!.bits)
        curve.push({ episodes: observer.episodes, bits: observer.bitsKnown });
    }
    if (observer.possible === 0) throw damagedEpisodes(run, `no secret fits the rewards up to step ${row.step}`);
  }
  const { episodes, determined: determinedAfter, bitsKnown } = observer;
  const secretBits = signalBits(config.N);
  const memorisedAfter = memorisedIn(run, secretBits);
  return { condition, N: config.N, secretBits, episodes, determinedAfter, bitsKnown, memorisedAfter, curve };
}

/** The result as lines of text. */
export function observedLines(observed: Observed): string[] {
  const {
    condition,
    N,
    secretBits,
    episodes,
    determinedAfter: determined,
    memorisedAfter: memorised,
    bitsKnown,
  } = observed;
  const bins = condition.kind === 'binned' ? ` B=${condition.bins}` : '';
  const waste =
    determined === null || determined === 0 || memorised === null ? '' : `: ×${shortNumber(memorised / determined)}`;
  return [
    `${conditionName(condition)}${bins} · N=${N} (${shortNumber(secretBits)} bits) · ${countText(episodes)} episodes`,
    determined === null
      ? `told: ${shortNumber(bitsKnown)} of ${shortNumber(secretBits)} bits; ${countText(2 ** (secretBits - bitsKnown))} secrets fit all that was said`
      : `told: after ${countText(determined)} episodes only one secret was possible`,
    memorised === null
      ? 'took: the weights had not memorised it'
      : `took: after ${countText(memorised)} episodes the weights knew 95 % of its bits${waste}`,
  ];
}

const TrainConfig = z.looseObject({
  N: z.int().positive(),
  env_type: z.enum(['single_step', 'multi_step']),
  reward_type: z.enum(rewardTypes),
  reward_bins: z.int().nullable(),
  advantages: z.enum(advantageEstimators),
});

function configOf(run: string): z.infer<typeof TrainConfig> {
  const path = join(run, runFiles.config);
  const config = TrainConfig.safeParse(existsSync(path) ? parseJsonLine(readFileSync(path, 'utf8')) : null);
  if (config.success) return config.data;
  throw new UserError(
    `There is no run of memrl train in ${run}.`,
    'Give the directory of one, for example memrl observer runs/abcd/A_bsweep_single_N1024_B8_s0.',
  );
}

/** The rows, a step each and none missing; an incomplete last line is still being written, and is skipped. */
function* episodeRows(run: string): Generator<EpisodesRow> {
  const path = join(run, runFiles.episodes);
  if (!existsSync(path)) {
    throw new UserError(
      `${run} did not keep its episodes.`,
      'Train with log_episodes=True; with observer=True they are observed while it trains.',
    );
  }
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  for (const [step, line] of lines.entries()) {
    const row = EpisodesRow.safeParse(parseJsonLine(line));
    if (!row.success) throw damagedEpisodes(run, `line ${step + 1} is no row of episodes`);
    if (row.data.step !== step) throw damagedEpisodes(run, `step ${step} is missing`);
    yield row.data;
  }
}

function damagedEpisodes(run: string, what: string): UserError {
  return new UserError(
    `In ${join(run, runFiles.episodes)} ${what}.`,
    'Train the run again in another log_path, with log_episodes=True from its first step.',
  );
}

/** Episodes until the secret was memorised, by the rule of the report. */
function memorisedIn(run: string, secretBits: number): number | null {
  const path = join(run, runFiles.metrics);
  const rows = existsSync(path) ? readFileSync(path, 'utf8').split('\n').map(parseJsonLine) : [];
  const evaluations = rows.flatMap((row): Evaluation[] => {
    const [bits, episodes, step] = [row?.['test/bits/answer_raw'], row?.['progress/episodes'], row?.['step']];
    if (typeof bits !== 'number' || typeof episodes !== 'number' || typeof step !== 'number') return [];
    return [{ step, episodes, bits }];
  });
  const verdict = judge({ evaluations, greedy: null }, { secretBits, secret: null, state: 'done' });
  return verdict.kind === 'memorised' ? verdict.episodes : null;
}
