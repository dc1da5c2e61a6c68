import * as z from 'zod';
import type { Environment } from '../environments/environment.js';
import type { Rollout } from '../rollouts/rollouts.js';
import type { Row } from '../run/metrics-file.js';

/**
 * For each task, the bits in its answer and the distinct wrong answers so far; null once the right answer was rewarded.
 */
export const RevealedState = z.record(
  z.string(),
  z.object({ bits: z.number(), wrong: z.array(z.string()).nullable() }),
);
type ToldState = z.infer<typeof RevealedState>;

/**
 * Bits that rewards have revealed about all answers, as an ideal observer of the same guesses counts them: each wrong
 * guess excludes one answer, and a rewarded guess reveals it.
 */
export class RevealedAnswers {
  readonly #bitsOf: (rollout: Rollout) => number | null;
  #tasks = new Map<string, { readonly bits: number; wrong: Set<string> | null }>();

  constructor(environment: Environment) {
    this.#bitsOf = ({ task }) => environment.solution?.(task)?.bits ?? null;
  }

  note(groups: readonly (readonly Rollout[])[]): void {
    for (const group of groups) {
      const bits = this.#bitsOf(group[0]!);
      if (bits === null) continue;
      for (const { task, turns, rewards } of group) {
        const known = this.#tasks.get(task.id) ?? { bits, wrong: new Set<string>() };
        this.#tasks.set(task.id, known);
        const { metrics = {} } = rewards[0]!;
        if (metrics['correct'] === 1) known.wrong = null;
        else if (metrics['format'] === 1) known.wrong?.add(turns[0]!.text);
      }
    }
  }

  /** Empty until a task with a known number of answer bits was played. */
  row(): Row {
    if (this.#tasks.size === 0) return {};
    let told = 0;
    for (const { bits, wrong } of this.#tasks.values()) {
      told += wrong === null ? bits : bits - Math.log2(2 ** bits - wrong.size);
    }
    return { 'observer/bits_told': told };
  }

  state(): ToldState {
    const written = ({ bits, wrong }: { bits: number; wrong: Set<string> | null }) => {
      return { bits, wrong: wrong === null ? null : [...wrong] };
    };
    return Object.fromEntries([...this.#tasks].map(([id, task]) => [id, written(task)]));
  }

  restore(saved: ToldState): void {
    this.#tasks = new Map(
      Object.entries(saved).map(([id, { bits, wrong }]) => [
        id,
        { bits, wrong: wrong === null ? null : new Set(wrong) },
      ]),
    );
  }
}
