import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import type { MemoryEnvironment } from '../environments/memory/memory-environment.js';
import { secretBits } from '../environments/memory/secret.js';
import type { Rollout } from '../rollouts/rollouts.js';
import { appendJsonLine, dropRowsFrom, type Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import { conditionOf } from './conditions.js';
import { Observer, type ObserverState } from './observer.js';
import { episodesRow, type ObservedEpisode } from './observed-episode.js';

type Watching = {
  readonly config: Parameters<typeof conditionOf>[0] & {
    readonly N: number;
    readonly observer: boolean;
    readonly log_episodes: boolean;
  };
  readonly secret: number;
  readonly environment: MemoryEnvironment;
  readonly directory: RunDirectory;
};

/** Receiver of the episodes of each step. */
export type Watch = Pick<EpisodeWatch, 'begin' | 'note' | 'row' | 'state'>;

/** Record of a run's episodes besides its training: a file of them, and an ideal observer of them. */
export class EpisodeWatch {
  readonly #seenIn: (rollout: Rollout) => ObservedEpisode;
  readonly #observer: Observer | null;
  readonly #file: string | null;

  constructor(watching: Watching) {
    const { config, directory } = watching;
    this.#seenIn = seeing(watching);
    this.#observer = config.observer ? new Observer(conditionOf(config), config.N) : null;
    this.#file = config.log_episodes ? join(directory.path, runFiles.episodes) : null;
  }

  /**
   * Begins or resumes at this step.
   * @param saved The result of `state`; null at the start of a run.
   * @throws UserError when the run was not observed from its start.
   */
  begin(step: number, saved: ObserverState | null): void {
    if (this.#file !== null) dropRowsFrom(this.#file, step);
    if (this.#observer === null || step === 0) return;
    if (saved === null) {
      throw new UserError(
        `The first ${step} steps of this run were not observed.`,
        'Set observer=False, or begin again in another log_path.',
      );
    }
    this.#observer.restore(saved);
  }

  note(step: number, groups: readonly (readonly Rollout[])[]): void {
    if (this.#observer === null && this.#file === null) return;
    const seen = groups.flat().map(this.#seenIn);
    for (const episode of seen) this.#observer?.note(episode);
    if (this.#file !== null) appendJsonLine(this.#file, episodesRow(step, seen));
  }

  /** Bits that the observer knows after the episodes so far; empty without an observer. */
  row(): Row {
    if (this.#observer === null) return {};
    const { bitsKnown, entropy, determined } = this.#observer;
    return {
      'observer/bits_known': bitsKnown,
      'observer/entropy_bits': entropy,
      ...(determined !== null && { 'observer/determined_after': determined }),
    };
  }

  state(): ObserverState | null {
    return this.#observer?.state() ?? null;
  }
}

function seeing({ config, secret, environment }: Watching): (rollout: Rollout) => ObservedEpisode {
  if (config.env_type === 'single_step') {
    return ({ turns, rewards }) => ({ kind: 'number', guess: environment.reading(turns), reward: rewards[0]!.total });
  }
  const right = secretBits(secret, config.N);
  return ({ rewards }) => ({
    kind: 'bits',
    rewards: rewards.map(({ total }) => total),
    // A valid bit that is wrong tells the right one: its opposite.
    bits: rewards.map(({ total, metrics }, turn) => {
      const bit = right[turn] === 1 ? 1 : 0;
      return metrics!['format_error'] === 1 ? null : total === 1 ? bit : bit === 1 ? 0 : 1;
    }),
  });
}
