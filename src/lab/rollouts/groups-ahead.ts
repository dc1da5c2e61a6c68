/**
 * Groups that are played ahead of training, with weights that may be some steps old by then: tinker-cookbook's
 * asynchronous mode. A group that has become too old is played again and never trained on.
 */
import * as z from 'zod';
import { totalReward, type Reward, type Task, type Turn } from '../environments/environment.js';
import type { Rollout } from './rollouts.js';

/**
 * `number`: position in the order in which tasks are drawn. `sampledAt`: optimizer steps of the weights at its start.
 */
export type PlayedGroup = {
  readonly number: number;
  readonly sampledAt: number;
  readonly rollouts: readonly Rollout[];
};

/** A rollout as plain JSON, without its task. */
const SavedRollout = z.object({
  tokens: z.array(z.int()),
  logprobs: z.array(z.number()),
  samplingLogprobs: z.array(z.number()),
  turnOf: z.array(z.int()),
  turns: z.array(z.object({ text: z.string(), ended: z.enum(['stop', 'length']) })),
  rewards: z.array(
    z.object({
      total: z.number(),
      parts: z.record(z.string(), z.number()).optional(),
      metrics: z.record(z.string(), z.number()).optional(),
    }),
  ),
  observed: z.int(),
});
type SavedRollout = z.infer<typeof SavedRollout>;

export const AheadState = z.object({
  next: z.int(),
  again: z.array(z.int()),
  finished: z.array(z.object({ number: z.int(), sampledAt: z.int(), rollouts: z.array(SavedRollout) })),
});
export type AheadState = z.infer<typeof AheadState>;

type AheadOptions = {
  /** Number of groups in a batch; as many are played at once. */
  readonly perBatch: number;
  /** Maximum number of steps between the weights that sampled a group and those trained on it. */
  readonly maxStepsOffPolicy: number;
  /** Whether groups with equal rewards are left out of batches. */
  readonly skipsConstant: boolean;
  /**
   * Whether training continues while groups are played. Without, as on an engine in this process, every group that was
   * begun is finished before weights change, and random draws do not depend on timing.
   */
  readonly isConcurrent: boolean;
  /** Plays groups by their numbers, with the present weights. */
  readonly play: (numbers: readonly number[]) => Promise<readonly (readonly Rollout[])[]>;
};

export class GroupsAhead {
  readonly #options: AheadOptions;
  #next = 0;
  /** Numbers to be played again, before new ones. */
  #again: number[] = [];
  #finished: PlayedGroup[] = [];
  readonly #playing = new Map<number, Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  /** The present step, and how many groups of its batch were handed out. */
  #taken = { step: 0, groups: 0 };
  #stale = 0;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  /** Number of groups that were too old and had to be played again, since the last call. */
  takeStale(): number {
    const stale = this.#stale;
    this.#stale = 0;
    return stale;
  }

  /**
   * Groups to train on, exactly `count` of them, none older than the limit.
   *
   * Constant groups that are left out are replaced by others, up to as many as a batch has: a policy whose rewards are
   * all equal would need endless replacements.
   */
  async take(step: number, count: number): Promise<PlayedGroup[]> {
    const { maxStepsOffPolicy, skipsConstant, perBatch, isConcurrent } = this.#options;
    if (this.#taken.step !== step) this.#taken = { step, groups: 0 };
    if (this.#taken.groups === 0) this.#begin(step);
    const taken: PlayedGroup[] = [];
    for (let skipped = 0; taken.length < count;) {
      if (this.#finished.length === 0) this.#begin(step);
      const group = await this.#oldest();
      if (step - group.sampledAt > maxStepsOffPolicy) {
        this.#stale++;
        this.#again.push(group.number);
      } else if (skipsConstant && skipped < perBatch && isConstant(group.rollouts)) skipped++;
      else {
        taken.push(group);
        this.#taken.groups++;
      }
    }
    if (isConcurrent) this.#begin(step);
    else await this.#settled();
    return taken;
  }

  /** Groups being played at the time are played again after a resume. */
  state(): AheadState {
    const finished = this.#finished.map(({ rollouts, ...group }) => {
      return { ...group, rollouts: rollouts.map(savedRollout) };
    });
    return { next: this.#next, again: [...this.#playing.keys(), ...this.#again], finished };
  }

  /** @param taskOf The task of the group of that number. */
  restore({ next, again, finished }: AheadState, taskOf: (number: number) => Task): void {
    this.#next = next;
    this.#again = [...again];
    this.#finished = finished.map(({ rollouts, ...group }) => {
      return { ...group, rollouts: rollouts.map((rollout) => restoredRollout(taskOf(group.number), rollout)) };
    });
  }

  /**
   * Begins as many groups as can still be trained on in time: together with finished groups and those being played, no
   * more than fill the batches up to the last one at which a group begun now is fresh.
   */
  #begin(step: number): void {
    const { perBatch, maxStepsOffPolicy, isConcurrent } = this.#options;
    const taken = this.#taken.step === step ? this.#taken.groups : 0;
    const ahead = taken + this.#finished.length + this.#playing.size;
    const wanted = (maxStepsOffPolicy + 1) * perBatch - ahead;
    const room = isConcurrent ? Math.min(wanted, perBatch - this.#playing.size) : wanted;
    const numbers = Array.from({ length: Math.max(0, room) }, () => this.#again.shift() ?? this.#next++);
    // Groups are played one by one when training waits for the first to finish, else together in one pass of the
    // engine.
    const size = isConcurrent ? 1 : perBatch;
    for (let at = 0; at < numbers.length; at += size) this.#play(numbers.slice(at, at + size), step);
  }

  #play(numbers: readonly number[], sampledAt: number): void {
    const played = this.#options.play(numbers).then(
      (groups) => {
        numbers.forEach((number, index) => {
          this.#playing.delete(number);
          this.#finished.push({ number, sampledAt, rollouts: groups[index]! });
        });
        if (this.#options.isConcurrent) this.#begin(this.#taken.step);
      },
      (error: unknown) => void (this.#failure = { error }),
    );
    for (const number of numbers) this.#playing.set(number, played);
  }

  /** Takes the group that was finished first. */
  async #oldest(): Promise<PlayedGroup> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      const group = this.#finished.shift();
      if (group !== undefined) return group;
      await Promise.race(this.#playing.values());
    }
  }

  async #settled(): Promise<void> {
    while (this.#playing.size > 0 && this.#failure === null) await Promise.race(this.#playing.values());
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Whether all episodes of a group have the same reward: it has no signal. */
export function isConstant(group: readonly Rollout[]): boolean {
  const first = totalReward(group[0]!);
  return group.every((rollout) => totalReward(rollout) === first);
}

function savedRollout(rollout: Rollout): SavedRollout {
  const { tokens, logprobs, samplingLogprobs, turnOf, turns, rewards, observed } = rollout;
  const savedTurns = turns.map(({ text, ended }) => ({ text, ended }));
  const earned = rewards.map((reward) => ({ ...reward })) as SavedRollout['rewards'];
  return { tokens, logprobs, samplingLogprobs, turnOf, turns: savedTurns, rewards: earned, observed };
}

function restoredRollout(task: Task, { turns, rewards, ...saved }: SavedRollout): Rollout {
  const restoredTurns = turns.map((turn, index): Turn => {
    const own = saved.turnOf.flatMap((of, at) => (of === index ? [at] : []));
    return {
      ...turn,
      tokens: Int32Array.from(own, (at) => saved.tokens[at]!),
      logprobs: Float32Array.from(own, (at) => saved.logprobs[at]!),
    };
  });
  return { ...saved, task, turns: restoredTurns, rewards: rewards as Reward[] };
}
