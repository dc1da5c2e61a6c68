import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import type { Config } from '../config/key.js';
import type { SolvedEnvironment } from '../environment.js';
import { secretBits } from '../environments/memory/secret.js';
import { conditionOf } from '../reference/conditions.js';
import { Observer, type ObserverState } from '../reference/observer.js';
import { episodesRow, type SeenEpisode } from '../reference/seen-episode.js';
import type { Episode } from '../rollout.js';
import { appendJsonLine, dropRowsFrom, type Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import { secretOf } from './build-game.js';
import type { trainKeys } from './keys.js';

type Watching = {
  readonly config: Config<typeof trainKeys>;
  readonly environment: SolvedEnvironment;
  readonly directory: RunDirectory;
};

/** What is kept of the episodes of a run beside what it trains on: a file of them, and an ideal observer of them. */
export class EpisodeWatch {
  readonly #seenIn: (episode: Episode) => SeenEpisode;
  readonly #observer: Observer | null;
  readonly #file: string | null;

  constructor({ config, environment, directory }: Watching) {
    this.#seenIn = seeing(config, environment);
    this.#observer = config.observer ? new Observer(conditionOf(config), config.N) : null;
    this.#file = config.log_episodes ? join(directory.path, runFiles.episodes) : null;
  }

  /** Goes on at this step. @param saved What `state` gave; null at the start of a run. @throws UserError when it was not watched until there. */
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

  note(step: number, groups: readonly (readonly Episode[])[]): void {
    if (this.#observer === null && this.#file === null) return;
    const seen = groups.flat().map(this.#seenIn);
    for (const episode of seen) this.#observer?.note(episode);
    if (this.#file !== null) appendJsonLine(this.#file, episodesRow(step, seen));
  }

  /** What the observer knows after the episodes so far; empty without one. */
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

function seeing(config: Watching['config'], environment: SolvedEnvironment): (episode: Episode) => SeenEpisode {
  if (config.env_type === 'single_step') {
    return ({ answers, rewards }) => ({ kind: 'number', guess: environment.reading(answers), reward: rewards[0]! });
  }
  const right = secretBits(secretOf(config), config.N);
  return ({ rewards, metrics }) => ({
    kind: 'bits',
    rewards,
    // A legible bit that is not right is the other one.
    bits: rewards.map((reward, turn) => {
      const bit = right[turn] === 1 ? 1 : 0;
      return metrics[turn]!['format_error'] === 1 ? null : reward === 1 ? bit : bit === 1 ? 0 : 1;
    }),
  });
}
