import { counterNamed } from '../../metrics/row-numbers.js';
import { identifierOf } from '../../spec/expand/expression/cel-environment.js';
import { compileExpression } from '../../spec/expand/expression/expression.js';
import { nearest } from '../../text/nearest.js';
import type { Unwritten } from '../publish/run-view.js';
import type { ReadRun } from './reading-messages.js';

/** A name in the sweep file, and the key that has it. */
type Asked = { readonly name: string; readonly key: string; readonly isIdentifier: boolean };

/** Rows after which a metric with no similar name is overdue. */
const OVERDUE = 500;
/** The same where only an evaluation of it is there: it may be made before the first step, as the tinker-cookbook does. */
const SOON = 20;
/** Names that are written, in words. */
const NAMED = 6;
/** The axes that every run has. */
const axes: ReadonlySet<string> = new Set(['step', 'wallTime', 'relativeTime', 'progress/done_frac']);

/** The metrics that the sweep file of a run names: those that decide over it, and those that are shown. */
export function askedMetrics({ objective, stopWhen, metrics, parameters }: ReadRun): readonly Asked[] {
  const settings = new Set(Object.keys(parameters).map(identifierOf));
  const exact = (key: string, names: readonly string[]) => names.map((name) => ({ name, key, isIdentifier: false }));
  const inRule = stopWhen === null ? [] : namesOf(stopWhen.when).filter((name) => !settings.has(name));
  const asked = [
    ...exact('metric', objective === null ? [] : [objective.name]),
    ...inRule.map((name) => ({ name, key: 'stop_when', isIdentifier: true })),
    ...exact(
      'metrics.show',
      metrics.show.filter((name) => !/[*?]/.test(name)),
    ),
    ...exact('metrics.x', [metrics.x]),
    ...exact('metrics.progress', metrics.progress === null ? [] : [metrics.progress.key]),
  ];
  return asked.filter(({ name }) => !axes.has(name) && counterNamed(name) === null);
}

function namesOf(expression: string): readonly string[] {
  try {
    return [...compileExpression(expression).names];
  } catch {
    return [];
  }
}

/**
 * Null: all are written and clear, or nothing is written. @param written Names of the metrics of the run. @param rows Number of its
 * rows. @param among As `RunMetrics.among`.
 */
export function unwrittenAmong(
  asked: readonly Asked[],
  written: readonly string[],
  rows: number,
  among: (name: string) => readonly string[] = () => [],
): Unwritten | null {
  const own = written.filter((key) => !key.startsWith('system/'));
  if (own.length === 0) return null;
  for (const { name, key } of asked) {
    const names = among(name).map((each) => `\`${each}\``);
    const words = `the metric \`${name}\` (\`${key}\`) is in several files, as ${names.join(', ')}: ${names[0]} counts`;
    if (names.length > 1) return { words, isCertain: true };
  }
  const identifiers = new Set(own.map(identifierOf));
  const keys = new Set(own);
  const missing = asked.filter(({ name, isIdentifier }) => !(isIdentifier ? identifiers.has(name) : keys.has(name)));
  const [first, ...others] = missing;
  if (first === undefined) return null;
  const similar = similarTo(first.name, own);
  const rest =
    others.length === 0 ? '' : `; nor ${others.map(({ name, key }) => `\`${name}\` (\`${key}\`)`).join(', ')}`;
  const more = own.length > NAMED ? ', …' : '';
  const there =
    similar === null ? `written: ${own.slice(0, NAMED).join(', ')}${more}` : `the nearest that is: \`${similar}\``;
  return {
    words: `the metric \`${first.name}\` (\`${first.key}\`) is not written; ${there}${rest}`,
    isCertain: rows >= overdueAfter(first.name, similar),
  };
}

/** Number of rows from which on a metric is certainly missing. @param similar The nearest that is written; null: none is like it. */
function overdueAfter(name: string, similar: string | null): number {
  if (similar === null) return OVERDUE;
  const isOfEvaluation = /^(?:test|val|valid|validation|eval|evaluation|dev|heldout)\//i.test(similar);
  return isOfEvaluation && similar.endsWith(`/${name}`) ? SOON : 0;
}

/** The key that was most likely meant: equal but for case and separators, in another group, or with a few letters more or less. */
function similarTo(name: string, written: readonly string[]): string | null {
  const letters = (key: string) => key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const last = (key: string) => letters(key.replace(/^.*[/.]/, ''));
  return (
    written.find((key) => letters(key) === letters(name)) ??
    written.find((key) => last(key) === letters(name) || letters(key) === last(name)) ??
    nearest(name.trim(), written)
  );
}
