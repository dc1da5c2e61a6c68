import { UserError } from '../../base/user-error.js';
import { shellWords } from '../../text/shell-words.js';
import { canonicalText } from '../expand/identity.js';
import type { SamplingKind } from '../expand/sampling/unit-points.js';
import { type ArgumentStyle, argumentStyles } from './argument-style.js';
import { type GridLine, gridSweepText } from './grid-line.js';
import { readAssignments } from './read-assignments.js';
import type { GridValue } from './value-syntax.js';

/** The line that a sweep file was generated from; null: the file was written or edited by hand. */
export function lineBefore(text: string): GridLine | null {
  const [, typed] = /^# memrl-tui grid (.*)$/m.exec(text.slice(0, text.indexOf('\n'))) ?? [];
  const read = typed === undefined ? null : shellWords(typed);
  const line = read?.kind === 'words' ? lineOf(read.words.map((word) => word.text)) : null;
  return line !== null && textOf(line) === text ? line : null;
}

/** Parses the heading of the file: assignments, options with their values, and the command. */
function lineOf(words: readonly string[]): GridLine | null {
  const end = words.indexOf('--');
  if (end < 0) return null;
  const assignments: string[] = [];
  const options: [name: string, value: string][] = [];
  for (let at = 0; at < end; at += 1) {
    const word = words[at]!;
    if (word.startsWith('--')) options.push([word, words[(at += 1)]!]);
    else assignments.push(word);
  }
  const valuesOf = (name: string) => options.flatMap(([option, value]) => (option === name ? [value] : []));
  const [[style = 'equals'], [cap]] = [valuesOf('--args'), valuesOf('--run-cap')];
  if (!Object.hasOwn(argumentStyles, style)) return null;
  return {
    ...{ assignments, command: words.slice(end + 1), style: style as ArgumentStyle },
    runCap: cap === undefined ? null : Number(cap),
    sample: (valuesOf('--sample')[0] as SamplingKind | undefined) ?? null,
    baselines: valuesOf('--baseline'),
    then: valuesOf('--then')[0] ?? null,
  };
}

function textOf(line: GridLine): string | null {
  try {
    return gridSweepText(line);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

/**
 * Whether a line changes the values of the same sweep: the same command with the same parameters, each of which has a value of
 * before. One without any of them is meant to be a different sweep.
 */
export function isOfSameSweep(now: GridLine, before: GridLine): boolean {
  if (JSON.stringify([now.command, now.style]) !== JSON.stringify([before.command, before.style])) return false;
  const [values, others] = [readAssignments(now.assignments), readAssignments(before.assignments)];
  const isShared = ([name, value]: [string, GridValue]) => {
    const other = others.get(name);
    return other !== undefined && textsOf(other).some((text) => textsOf(value).includes(text));
  };
  return values.size === others.size && [...values].every(isShared);
}

function textsOf(value: GridValue): (string | undefined)[] {
  if (value.kind === 'drawn') return [canonicalText(value.distribution)];
  return (value.kind === 'list' ? value.values : [value.value]).map((each) => canonicalText(each));
}
