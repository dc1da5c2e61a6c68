import { isMapValue, type ParameterValue, type Parameters } from '../../base/scalar.js';

/**
 * Identifies a run: a hash of its group and its parameters, whatever their order, without those that are budget. 16 hexadecimal
 * digits (FNV-1a, 64 bits). Runs of the same identity are the same experiment and share a directory. The group is a part of it, as
 * two groups may pass the same parameters to different commands.
 */
export function identityOf(group: string, parameters: Parameters, budget: readonly string[]): string {
  const entries = Object.entries(parameters)
    .filter(([name]) => !budget.includes(name))
    .map(([name, value]): [string, ParameterValue] => [name, inOrder(value)])
    .sort(byName);
  return fnv1a64(JSON.stringify([group, entries]));
}

/** A text that is equal for equal values, in whatever order their maps were written. */
export function canonicalText(value: ParameterValue | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(inOrder(value));
}

/** Numbers that PyYAML, which reads W&B's files, takes for texts. */
const exponential = /^[+-]?\d+(\.\d*)?e[+-]?\d+$/i;

/** The value with the keys of its maps sorted. */
function inOrder(value: ParameterValue): ParameterValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value === 'string') return exponential.test(value) ? Number(value) : value;
  if (!isMapValue(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, ParameterValue] => [name, inOrder(inner)]);
  return Object.fromEntries(entries.sort(byName));
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

/**
 * FNV-1a over the UTF-16 code units (low byte, then high byte) of a text. In two halves of 32 bits: the prime is 2^40 + 0x1b3, so a
 * product is a shift and a small multiplication; bigints would take 50 times as long, and a plan has ten thousand of these.
 */
export function fnv1a64(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (let index = 0; index < 2 * text.length; index += 1) {
    const unit = text.charCodeAt(index >> 1);
    low = (low ^ (index % 2 === 0 ? unit & 0xff : unit >> 8)) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');
}
