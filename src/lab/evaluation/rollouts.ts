import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { shortNumber } from '../../text/numbers.js';
import { columnsOf, tableLines } from '../../text/table.js';
import { advantages } from '../advantages/advantages.js';
import { type TrainConfig, trainKeys } from '../algorithms/train-settings.js';
import { openTrain } from '../algorithms/train.js';
import { readArguments, writeValue } from '../config/arguments.js';
import { key } from '../config/key.js';
import { bool, int, orNone, text } from '../config/value-type.js';
import { buildMemoryEnvironment } from '../environments/memory/memory-environment.js';
import type { Watch } from '../reference/episode-watch.js';
import { EpisodesRow, type ObservedEpisode, episodesIn } from '../reference/observed-episode.js';
import { inGroups, type Rollout } from '../rollouts/rollouts.js';
import { lastCheckpoint } from '../run/checkpoint.js';
import { Means, type Row } from '../run/metrics-file.js';
import type { ProcessContext, StopSignal } from '../run/process-context.js';
import { knownConfig, type RunDirectory } from '../run/run-directory.js';
import { meansOf } from '../run/runner.js';
import { memoryTokenizer } from '../text/memory-vocabulary.js';

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

type StepRequest = { readonly step: number; readonly replay: boolean };

/**
 * The episodes of a step of a run: recorded ones if there are any, else replayed ones from the nearest checkpoint
 * before it, which leaves the run as it is.
 *
 * @returns the signal when one came before they were played.
 * @throws UserError when there are none, or the replay differs from the run.
 */
export async function rollouts(
  run: string,
  { step, replay: again }: StepRequest,
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

/** @throws UserError when `run` is not the directory of a run of memrl train. */
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
function keptEpisodes(run: string, { N }: TrainConfig, step: number): ObservedEpisode[] | null {
  const path = join(run, runFiles.episodes);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  for (const line of lines) {
    const row = EpisodesRow.safeParse(parseJsonLine(line));
    if (row.success && row.data.step === step) return episodesIn(row.data, N);
  }
  return null;
}

function keptGroup(group: readonly ObservedEpisode[], { advantages: credit, advantage_scale: scale }: TrainConfig) {
  const rewards = group.map((seen) => (seen.kind === 'number' ? [seen.reward] : seen.rewards));
  const credited = advantages(rewards, credit, scale);
  return group.map((seen, index): ShownEpisode => {
    const values = seen.kind === 'number' ? [seen.guess] : seen.bits;
    const answers = values.map((each) => (each === null ? null : String(each)));
    return { answers, rewards: rewards[index]!, advantages: credited[index]!, logprob: null };
  });
}

/** `from`: the point from which the run was replayed, in words. */
type Replayed = { readonly groups: readonly (readonly Rollout[])[]; readonly from: string };

/**
 * Plays a step of a run again: resumes the run at its last checkpoint before that step, or at its start, and trains up
 * to it. The same settings, weights and random numbers give the same bits, so these are the original episodes. Every
 * row of the run's metrics on the way is compared with the replayed one. Nothing is written.
 *
 * @returns the signal when one came before the step was played.
 */
async function replay(
  run: string,
  config: TrainConfig,
  step: number,
  context: ProcessContext,
): Promise<Replayed | StopSignal> {
  const directory = { path: run, metrics: join(run, runFiles.metrics) };
  const rows = rowsDone(directory, step, context);
  const resumed = lastCheckpoint(directory, context.log, step);
  let groups: Replayed['groups'] = [];
  const watch: Watch = {
    begin: () => undefined,
    note: (_, played) => (groups = played),
    row: () => ({}),
    state: () => null,
  };
  const training = await openTrain(config, { directory, context, resumed, isReplay: true }, watch);
  if (typeof training === 'string') return training;
  const row = new Means(training.columns);
  row.restore(meansOf(resumed));
  for (let at = resumed?.batch ?? 0; at <= step; at++) {
    const signal = await context.stopAsked();
    if (signal !== null) return signal;
    await training.step(at, row);
    const known = rows.get(at);
    if (known !== undefined) compare(row.take(), at, known);
  }
  return {
    groups,
    from: resumed === null ? 'played again from the start of the run' : `played again from ${resumed.path}`,
  };
}

/** @throws UserError when the run has not reached that step. */
function rowsDone(
  directory: RunDirectory,
  step: number,
  context: ProcessContext,
): Map<number, Record<string, unknown>> {
  const run = directory.path;
  const rows = metricsOf(run);
  const saved = lastCheckpoint(directory, context.log);
  // The last row of a finished run belongs to no step.
  if (saved !== null && basename(saved.path) === 'final') rows.delete(saved.batch);
  const last = Math.max(...rows.keys(), (saved?.batch ?? 0) - 1);
  if (step <= last) return rows;
  const done = last < 0 ? 'It has none.' : `Its last is step ${last}.`;
  throw new UserError(`${run} has no step ${step}. ${done}`, 'Give a step that it has done.');
}

/** The rows with statistics of training steps, by step. */
function metricsOf(run: string): Map<number, Record<string, unknown>> {
  const path = join(run, runFiles.metrics);
  const rows = existsSync(path) ? readFileSync(path, 'utf8').split('\n').map(parseJsonLine) : [];
  const isOfStep = (row: Record<string, unknown> | null) => row !== null && 'env/all/reward/total' in row;
  return new Map(rows.filter(isOfStep).map((row) => [Number(row!['step']), row!]));
}

/** @throws UserError when the steps since the last row differ from the recorded ones. */
function compare(found: Row, step: number, row: Readonly<Record<string, unknown>>): void {
  // The file has null for numbers that are not finite.
  const written = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
  const differing = Object.keys(found).find((name) => written(found[name]) !== written(row[name]));
  if (differing === undefined) return;
  throw new UserError(
    `Played again here, the run comes out differently at step ${step}: ${differing} is ${found[differing]}, and was ${String(row[differing])}.`,
    'Replay it with the engine, on the kind of machine and with the initial weights it was trained with; log_episodes=True keeps the episodes of a run.',
  );
}
