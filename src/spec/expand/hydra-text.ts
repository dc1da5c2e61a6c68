import { isMapValue } from '../../base/scalar.js';
import type { Value } from './expression/cel-environment.js';
import { numberText } from './value-text.js';

/** Texts that Hydra's grammar of overrides reads as the same text without quotes. */
const plain = /^(?:\.{0,2}\/)?[A-Za-z_][\w./-]*$/;
/** Words that it reads as something else, in any case. */
const words = /^(?:null|true|false|nan|inf)$/i;
/** Numbers in a notation that it reads as numbers. */
const number = /^[-+]?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][-+]?\d+)?$/;

/** A value as Hydra's grammar of overrides reads it back. An interpolation (`${…}`) in a text stays one, in quotes too. */
export function hydraText(value: Value, written: ReadonlyMap<number, string> = new Map()): string {
  return typeof value === 'string' && plain.test(value) && !words.test(value) ? value : innerText(value, written);
}

/** Every text inside a list or a map is in quotes. */
function innerText(value: Value, written: ReadonlyMap<number, string>): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberOf(value, written.get(value));
  if (typeof value === 'string') return quoted(value);
  if (!isMapValue(value)) return `[${value.map((item) => innerText(item, written)).join(', ')}]`;
  const pairs = Object.entries(value).map(([name, inner]) => `${keyText(name)}: ${innerText(inner, written)}`);
  return `{${pairs.join(', ')}}`;
}

function numberOf(value: number, written: string | undefined): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return written !== undefined && number.test(written) ? written : numberText(value);
}

/** Backslashes count only before a quote, where they are doubled. */
function quoted(text: string): string {
  return `'${text.replace(/(\\*)('|$)/g, (_, slashes: string, quote: string) => slashes + slashes + (quote === '' ? '' : "\\'"))}'`;
}

/** Keys have no quotes in the grammar, only escapes. */
function keyText(name: string): string {
  return name.replace(/[\\()[\]{}:=, \t]/g, '\\$&');
}
