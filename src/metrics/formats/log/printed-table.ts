import type { StatedProgress, WrittenRow } from '../format.js';
import { toNumber } from './pairs.js';
import { secondsOf } from './progress-bar.js';

/** The most rows of a table; a longer one is none. */
const MOST = 500;

/**
 * The tables of stable-baselines3: `| rollout/ | |` begins a section, `|    ep_rew_mean | 123 |` is a value in it, a line of
 * dashes ends the table. Names that it cuts to 36 characters stay cut.
 */
export class BoxTable {
  #section = '';
  #row: Record<string, number> | null = null;

  /** The table that ends with this line; null: it belongs to one; undefined: it has nothing to do with tables. */
  take(line: string): WrittenRow | null | undefined {
    if (/^-{10,}$/.test(line)) return this.#end();
    const [, key, value] = /^\| *([^|]+?) *\| *([^|]*?) *\|$/.exec(line) ?? [];
    if (key === undefined) {
      this.#end();
      return undefined;
    }
    this.#row ??= {};
    const isInside = /^\| {2,}/.test(line);
    if (value === '' && key.endsWith('/')) this.#section = key;
    else put(this.#row, isInside ? this.#section + key : key, value!);
    return null;
  }

  #end(): WrittenRow | null {
    const row = this.#row;
    this.#section = '';
    this.#row = null;
    return row !== null && Object.keys(row).length > 0 ? row : null;
  }
}

/** Puts a number into a row, if the text is one. */
function put(row: Record<string, number>, key: string, text: string): void {
  const number = toNumber(text);
  const isNumber = text !== '' && (!Number.isNaN(number) || /^[-+]?nan$/i.test(text));
  if (isNumber && Object.keys(row).length < MOST) row[key] = number;
}

/** The blocks of rsl_rl: `Learning iteration 12/1500`, then `Mean reward: 3.5` and the like, and `ETA: 1:02:03` at the end. */
export class IterationBlock {
  #row: Record<string, number> | null = null;
  #progress: StatedProgress | null = null;
  #total = 0;

  get progress(): StatedProgress | null {
    return this.#progress;
  }

  /** As `BoxTable.take`. */
  take(line: string): WrittenRow | null | undefined {
    const [, iteration, total] = /^\s*Learning iteration (\d+)\/(\d+)\s*$/.exec(line) ?? [];
    if (iteration !== undefined) return this.#begin(Number(iteration), Number(total));
    if (this.#row === null) return undefined;
    const [, key, value] = /^\s*([^:]{1,80}): +([^ ].*?)\s*$/.exec(line) ?? [];
    if (key === 'ETA') return this.#end(secondsOf(value!));
    if (key !== undefined) put(this.#row, key, value!.replace(/(?<=\d)(?:s| steps\/s.*)$/, ''));
    return null;
  }

  #begin(iteration: number, total: number): WrittenRow | null {
    const before = this.#row;
    this.#total = total;
    this.#row = { step: iteration };
    return before;
  }

  #end(etaSeconds: number | null): WrittenRow | null {
    const row = this.#row;
    this.#row = null;
    const share = Math.min(1, ((row?.['step'] ?? 0) + 1) / Math.max(1, this.#total));
    this.#progress = { share, etaSeconds, rate: null };
    return row;
  }
}
