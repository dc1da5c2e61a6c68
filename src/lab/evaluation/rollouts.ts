import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { shortNumber } from '../../text/numbers.js';
import { columnsOf, tableLines } from '../../text/table.js';
import { readArguments, writeValue } from '../config/arguments.js';
import { trainKeys, type TrainConfig } from '../algorithms/train-settings.js';
import { advantages } from '../advantages/advantages.js';
import { key } from '../config/key.js';
import { bool, int, orNone, text } from '../config/value-type.js';
import { buildMemoryEnvironment } from '../environments/memory/memory-environment.js';
import { EpisodesRow, seenIn, type SeenEpisode } from '../reference/seen-episode.js';
import { inGroups } from '../rollouts/batches.js';
import { knownConfig } from '../run/run-directory.js';
import type { StopSignal, ProcessContext } from '../run/process-context.js';
import { memoryTokenizer } from '../text/memory-vocabulary.js';
import { replay } from './replay.js';

/** Keys of `memrl rollouts`, which shows the episodes of one step of a run. */
export const rolloutsKeys = {
  path: key(orNone(text), null, 'a run of memrl train; `path=` may be left out'),
  step: key(orNone(int(0)), null, 'the step, the first is 0'),
  replay: key(
    bool,
    false,
    'play the step again also where its episodes were kept (log_episodes): with words and log-probabilities',
  ),
  json: key(bool, false, 'print JSON; --json is the same'),
};

/** An episode of a run. Arrays have an entry for each turn. */
type ShownEpisode = {
  /** The policy's answers; of a recorded episode the numbers or bits, with null for an invalid one. */
  readonly answers: readonly (string | null)[];
  readonly rewards: readonly number[];
  readonly advantages: readonly number[];
  /** Natural log-probability of all the policy's tokens; null when it was not recorded. */
  readonly logprob: number | null;
};

/** `from`: source of the episodes. `groups`: those of the step, in order. */
type Rollouts = {
  readonly step: number;
  readonly from: string;
  readonly prompt: string;
  readonly groups: readonly (readonly ShownEpisode[])[];
};

type Asked = { readonly step: number; readonly replay: boolean };

/**
 * The episodes of a step of a run: recorded ones if there are any, else replayed ones from the nearest checkpoint
 * before it, which leaves the run as it is.
 *
 * @returns the signal when one came before they were played.
 * @throws UserError when there are none, or the replay differs from the run.
 */
export async function rollouts(
  run: string,
  { step, replay: again }: Asked,
  context: ProcessContext,
): Promise<Rollouts | StopSignal> {
  const config = configOf(run);
  const prompt = buildMemoryEnvironment(config).task().text;
  const kept = again ? null : keptEpisodes(run, config, step);
  if (kept !== null) {
    const groups = inGroups(kept, config.group_size).map((group) => keptGroup(group, config));
    return { step, from: runFiles.episodes, prompt, groups };
  }
  const played = await replay(run, config, step, context);
  if (typeof played === 'string') return played;
  const groups = played.groups.map((group) => {
    const earned = group.map(({ rewards }) => rewards.map(({ total }) => total));
    const compared = advantages(earned, config.advantages, config.advantage_scale);
    return group.map(({ turns, logprobs }, index) => ({
      answers: turns.map(({ tokens }) => memoryTokenizer.decode(tokens)),
      ...{ rewards: earned[index]!, advantages: compared[index]! },
      logprob: logprobs.reduce((sum, logprob) => sum + logprob, 0),
    }));
  });
  return { step, from: played.from, prompt, groups };
}

/** The episodes as lines. @param width Width of the table, in columns of a terminal. */
export function rolloutsLines({ step, from, prompt, groups }: Rollouts, width: number): string[] {
  const rows = groups.flatMap((group, index) => group.map((episode) => ({ group: index, ...episode })));
  const column = columnsOf(rows);
  const isKept = rows.every(({ logprob }) => logprob === null);
  const numbers = (values: readonly number[]) => values.map((value) => shortNumber(value)).join(' ');
  const columns = [
    column('right')('group', ({ group }) => String(group)),
    column('left')('answer', ({ answers }) =>
      answers.map((answer) => (answer === null ? 'none' : JSON.stringify(answer))).join(' '),
    ),
    column('left')('reward', ({ rewards }) => numbers(rewards)),
    column('left')('advantage', ({ advantages: credit }) =>
      numbers(new Set(credit).size === 1 ? credit.slice(0, 1) : credit),
    ),
    ...(isKept ? [] : [column('right')('log-probability', ({ logprob }) => shortNumber(logprob))]),
  ];
  return [
    `step ${step} · ${from}`,
    '',
    ...prompt.trimEnd().split('\n'),
    '',
    ...tableLines(columns, width),
    ...(isKept ? ['', 'With replay=True it is played again, with words and log-probabilities.'] : []),
  ];
}

/** @throws UserError when it is not a run of memrl train. */
function configOf(run: string): TrainConfig {
  const known = knownConfig(join(run, runFiles.config));
  if (known === null || !('group_size' in known) || !('n_batches' in known)) {
    throw new UserError(
      `There is no run of memrl train in ${run}.`,
      'Give the directory of one, for example memrl rollouts runs/abcd/A_bsweep_single_N1024_B8_s0 step=100.',
    );
  }
  const settings = Object.entries(known).filter(([name]) => Object.hasOwn(trainKeys, name));
  return readArguments(
    trainKeys,
    settings.map(([name, value]) => `${name}=${writeValue(value)}`),
  ).config;
}

/** The recorded row of this step; null when there is none. */
function keptEpisodes(run: string, { N }: TrainConfig, step: number): SeenEpisode[] | null {
  const path = join(run, runFiles.episodes);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  for (const line of lines) {
    const row = EpisodesRow.safeParse(parseJsonLine(line));
    if (row.success && row.data.step === step) return seenIn(row.data, N);
  }
  return null;
}

function keptGroup(group: readonly SeenEpisode[], { advantages: credit, advantage_scale: scale }: TrainConfig) {
  const rewards = group.map((seen) => (seen.kind === 'number' ? [seen.reward] : seen.rewards));
  const credited = advantages(rewards, credit, scale);
  return group.map((seen, index): ShownEpisode => {
    const values = seen.kind === 'number' ? [seen.guess] : seen.bits;
    const answers = values.map((each) => (each === null ? null : String(each)));
    return { answers, rewards: rewards[index]!, advantages: credited[index]!, logprob: null };
  });
}
