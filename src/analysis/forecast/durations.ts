import type { Parameters } from '../../base/scalar.js';

/** Parameters that name a repetition or a place, and are no condition of the experiment. */
const repetition = /(^|[._-])(seed|secret|random_state|run_id|name|path|dir|directory|file)$/i;

/** Whether a parameter tells repetitions of one setting apart, as a seed does. */
export function namesRepetition(parameter: string): boolean {
  return repetition.test(parameter);
}

/** What tells which runs are of one kind. `isPreparation`: other groups wait for its group, as for a warm-up. */
export type RunKind = {
  readonly sweep: string;
  readonly group: string;
  readonly parameters: Parameters;
  readonly isPreparation: boolean;
};

/**
 * How long runs took, seconds: of the same setting (all parameters but seeds), of the same group, of the same sweep. A sweep
 * tells nothing of its warm-ups by its other runs, nor the other way round.
 */
export class Durations {
  readonly #known = new Map<string, Times>();

  note(run: RunKind, seconds: number): void {
    for (const key of keysOf(run)) {
      let times = this.#known.get(key);
      if (times === undefined) this.#known.set(key, (times = new Times()));
      times.add(seconds);
    }
  }

  /** Takes back what was noted. */
  forget(run: RunKind, seconds: number): void {
    for (const key of keysOf(run)) this.#known.get(key)?.remove(seconds);
  }

  /** Of the nearest relatives of which any is known: setting, group, sweep. Null: nothing is known. */
  like(run: RunKind): Pick<Times, 'mean' | 'inOrder'> | null {
    for (const key of keysOf(run)) {
      const times = this.#known.get(key);
      if (times !== undefined && times.count > 0) return times;
    }
    return null;
  }
}

/** Ten thousand times are asked about as often: what is asked is kept. */
class Times {
  #values: number[] = [];
  #sum = 0;
  #isInOrder = true;

  get count(): number {
    return this.#values.length;
  }

  get mean(): number {
    return this.#sum / this.#values.length;
  }

  /** The shortest first. */
  get inOrder(): readonly number[] {
    if (!this.#isInOrder) this.#values.sort((a, b) => a - b);
    this.#isInOrder = true;
    return this.#values;
  }

  add(seconds: number): void {
    this.#values.push(seconds);
    this.#sum += seconds;
    this.#isInOrder = false;
  }

  remove(seconds: number): void {
    const at = this.#values.indexOf(seconds);
    if (at < 0) return;
    this.#values.splice(at, 1);
    this.#sum = this.#values.reduce((sum, value) => sum + value, 0);
  }
}

/** From the closest relatives to the farthest. */
function keysOf({ sweep, group, parameters, isPreparation }: RunKind): string[] {
  return [`${sweep}\n${group}\n${settingOf(parameters)}`, `${sweep}\n${group}`, `${sweep}\n\n${isPreparation}`];
}

/** Parameters of a run do not change, and putting them in words takes longer than all else here. */
const settings = new WeakMap<Parameters, string>();

/** The same text for runs that differ in nothing but their seeds. */
export function settingOf(parameters: Parameters): string {
  const known = settings.get(parameters);
  if (known !== undefined) return known;
  const text = JSON.stringify(Object.entries(parameters).filter(([name]) => !namesRepetition(name)));
  settings.set(parameters, text);
  return text;
}
