import { tagsText } from '../../../base/annotation.js';
import { parameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import type { RunSummary } from '../../state/port.js';
import { scalarText } from '../../widgets/parameters.js';
import { narrowNumber } from '../../../text/numbers.js';

type Value = RunSummary['parameters'][string];

/** A parameter that differs between subjects. `cells`: for each subject, the distinct values of its runs. */
export type DifferingParameter = { readonly key: string; readonly cells: readonly (readonly (Value | undefined)[])[] };

/**
 * The parameters that do not have the same values in all of these lists of runs, in their original order. What varies in the same
 * way within every list (such as seeds) is not a difference. `undefined` is a value, as a run may lack a parameter.
 */
export function differingParameters(lists: readonly (readonly RunSummary[])[]): DifferingParameter[] {
  const sets = lists.map(valueSets);
  const keys = new Set(sets.flatMap((set) => [...set.keys()]));
  return [...keys].flatMap((key): DifferingParameter[] => {
    const texts = sets.map((set) => identity(set.get(key)));
    if (texts.every((text) => text === texts[0])) return [];
    return [{ key, cells: sets.map((set) => [...(set.get(key)?.values() ?? [undefined])]) }];
  });
}

/** Tags and notes that differ between subjects, by the same rule. */
export function differingAnnotations(lists: readonly (readonly RunSummary[])[]): DifferingParameter[] {
  return differingParameters(lists.map((runs) => runs.map((run) => ({ ...run, parameters: annotationValues(run) }))));
}

function annotationValues({ annotation }: RunSummary): RunSummary['parameters'] {
  const tags = tagsText(annotation);
  const note = annotation?.note ?? null;
  return { ...(tags === '' ? {} : { tags }), ...(note === null ? {} : { note }) };
}

/** The values of every parameter, by their text. */
function valueSets(runs: readonly RunSummary[]): Map<string, Map<string, Value | undefined>> {
  const sets = new Map<string, Map<string, Value | undefined>>();
  const counts = new Map<string, number>();
  for (const { parameters } of runs) {
    for (const key in parameters) {
      let set = sets.get(key);
      if (set === undefined) sets.set(key, (set = new Map<string, Value | undefined>()));
      set.set(JSON.stringify(parameterOf(parameters, key)), parameterOf(parameters, key));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [key, set] of sets) if (counts.get(key)! < runs.length) set.set('', undefined);
  return sets;
}

/** A text that is equal for equal sets of values. A missing set means that no run of the list has the parameter. */
function identity(set: ReadonlyMap<string, unknown> | undefined): string {
  return set === undefined ? '' : [...set.keys()].sort().join('\n');
}

/** One value as it is, a few beside each other, many as a range or a count; about `width` columns at most. */
export function valuesText(values: readonly (Value | undefined)[], width: number): string {
  const texts = values.map(scalarText);
  const whole = texts.join(' ');
  if (texts.length === 1 || whole.length <= width) return cleanText(whole);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return `${values.length} values`;
  return `${narrowNumber(Math.min(...numbers))}…${narrowNumber(Math.max(...numbers))} (${values.length})`;
}

/** Texts for comparison: whole if all of them fit, otherwise shortened to what distinguishes them (`…N64/last.ckpt`). */
export function withoutCommon(texts: readonly string[], width: number): string[] {
  const distinct = [...new Set(texts)];
  if (distinct.length < 2 || texts.every((text) => textWidth(text) <= width)) return [...texts];
  return texts.map((text) => fitDistinct(text, width, distinct).trimEnd());
}
