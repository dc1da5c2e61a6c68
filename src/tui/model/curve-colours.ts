import type { RunId, RunSummary } from '../state/port.js';
import type { Tone } from '../surface/span.js';

const tones: readonly Tone[] = ['curve0', 'curve1', 'curve2', 'curve3', 'curve4', 'curve5', 'curve6', 'curve7'];
/** Number of colours that can be told apart. */
export const mostColours = tones.length;

/**
 * The colour of each run and group, the same in every chart and in the list. Runs, settings and groups are coloured in sweep order,
 * so neither a filter nor a different list order changes colours. Groups of another grouping are coloured in the order in which
 * they are first drawn.
 */
export class CurveColours {
  readonly #runs: readonly RunSummary[];
  #numbers: Map<string, number> | null = null;
  readonly #others = new Map<string, number>();

  /** `runs`: all runs, shown or not; read once, when the first colour is requested. */
  constructor(runs: readonly RunSummary[]) {
    this.#runs = runs;
  }

  /** `key`: key of a list row. */
  of(key: string): Tone {
    this.#numbers ??= numbersOf(this.#runs);
    let number = this.#numbers.get(key) ?? this.#others.get(key);
    if (number === undefined) this.#others.set(key, (number = this.#others.size));
    return tones[number % tones.length]!;
  }
}

/** One colour per key: its own, or the next free one if another key already has it. Colours repeat from the ninth key on. */
export function distinctColours(keys: readonly string[], colours: CurveColours): Tone[] {
  const taken = new Set<Tone>();
  return keys.map((key) => {
    const own = colours.of(key);
    const from = tones.indexOf(own);
    const inOrder = tones.map((_, step) => tones[(from + step) % tones.length]!);
    const tone = inOrder.find((one) => !taken.has(one)) ?? own;
    taken.add(tone);
    return tone;
  });
}

/** A number for each row key. Runs, settings and groups are numbered separately. */
function numbersOf(runs: readonly RunSummary[]): Map<string, number> {
  const ids = new Map<RunId, number>();
  const groups = new Map<string, number>();
  const settings = new Map<string, number>();
  for (const { id, sweep, group, subgroup } of runs) {
    const key = `${sweep}/${group}`;
    ids.set(id, ids.size);
    if (!groups.has(key)) groups.set(key, groups.size);
    if (subgroup !== null && !settings.has(`${key}/${subgroup}`)) settings.set(`${key}/${subgroup}`, settings.size);
  }
  return new Map<string, number>([...ids, ...groups, ...settings]);
}
