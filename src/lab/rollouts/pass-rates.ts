/**
 * A curriculum by pass rate: each task has a moving average of the rewards of its answers, 0.5 at first, which makes
 * it a hard, a normal or an easy task. A draw takes one of these levels by its weight, and in it the task that was
 * drawn longest ago.
 */
import * as z from 'zod';
import type { Rng } from '../rng.js';

const levels = ['hard', 'normal', 'easy'] as const;
type Level = (typeof levels)[number];

type PassRateOptions = {
  /** Number of tasks; they are 0 … tasks − 1. */
  readonly tasks: number;
  /** Share of a new result in the average. */
  readonly alpha: number;
  /** Below the first a task is hard, above the second easy. */
  readonly boundaries: readonly number[];
  /**
   * Weights of hard, normal and easy. When the level drawn is empty, another is taken: normal before hard before easy.
   */
  readonly weights: readonly number[];
};

const Queue = z.array(z.int().nonnegative());
export const PassRatesState = z.object({
  rates: z.array(z.number()),
  queues: z.object({ hard: Queue, normal: Queue, easy: Queue }),
});

export class PassRates {
  readonly #options: PassRateOptions;
  #rates: number[];
  /** Tasks of each level, least recently drawn first. */
  #queues: Record<Level, number[]>;

  constructor(options: PassRateOptions) {
    this.#options = options;
    this.#rates = Array.from({ length: options.tasks }, () => 0.5);
    this.#queues = { hard: [], normal: [], easy: [] };
    this.#rates.forEach((rate, task) => this.#queues[this.#levelOf(rate)].push(task));
  }

  /** Draws different tasks: `count` of them, or all if there are fewer. */
  draw(count: number, random: Rng): number[] {
    const drawn: number[] = [];
    for (let at = 0; at < Math.min(count, this.#options.tasks); at++) drawn.push(this.#next(random, new Set(drawn)));
    return drawn;
  }

  /** @param reward Mean over the answers to a task, from 0 to 1. */
  update(task: number, reward: number): void {
    const { alpha } = this.#options;
    const [before, after] = [this.#rates[task]!, (1 - alpha) * this.#rates[task]! + alpha * reward];
    this.#rates[task] = after;
    const [from, to] = [this.#levelOf(before), this.#levelOf(after)];
    if (from === to) return;
    this.#queues[from] = this.#queues[from].filter((each) => each !== task);
    this.#queues[to].push(task);
  }

  /** How many tasks each level has. */
  get counts(): Readonly<Record<Level, number>> {
    return { hard: this.#queues.hard.length, normal: this.#queues.normal.length, easy: this.#queues.easy.length };
  }

  get state(): z.infer<typeof PassRatesState> {
    return { rates: this.#rates, queues: this.#queues };
  }

  restore({ rates, queues }: z.infer<typeof PassRatesState>): void {
    this.#rates = [...rates];
    this.#queues = structuredClone(queues);
  }

  #next(random: Rng, drawn: ReadonlySet<number>): number {
    const open = (level: Level) => this.#queues[level].find((task) => !drawn.has(task));
    const order = [this.#chosen(random), 'normal', 'hard', 'easy'] as const;
    const level = order.find((each) => open(each) !== undefined)!;
    const task = open(level)!;
    this.#queues[level] = [...this.#queues[level].filter((each) => each !== task), task];
    return task;
  }

  #chosen(random: Rng): Level {
    const { weights } = this.#options;
    let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    return levels.find((_, at) => (left -= weights[at]!) < 0) ?? 'normal';
  }

  #levelOf(rate: number): Level {
    const [low, high] = this.#options.boundaries as [number, number];
    if (rate < low) return 'hard';
    return rate > high ? 'easy' : 'normal';
  }
}
