import type { RunSummary } from '../state/port.js';
import { textWidth } from '../../text/display-width.js';
import { parameterText } from './parameter-text.js';

/** What tells the runs apart: of every parameter that is not the same in all of them, how many values it has. */
export type VaryingParameters = ReadonlyMap<string, VaryingParameter>;

type VaryingParameter = {
  /** Different values, a run without the parameter counting as one. */
  readonly values: number;
  /** Columns of the widest of them. */
  readonly width: number;
  /** Whether every value is a number, to be aligned on the right. */
  readonly isNumeric: boolean;
};

/** Parameters in the order in which the sweep file names them. */
export function varyingParametersOf(runs: readonly RunSummary[]): VaryingParameters {
  const found = new Map<string, { texts: Set<string>; runs: number; isNumeric: boolean }>();
  for (const { parameters } of runs) {
    for (const key in parameters) {
      const value = parameters[key];
      let known = found.get(key);
      if (known === undefined) found.set(key, (known = { texts: new Set(), runs: 0, isNumeric: true }));
      known.texts.add(parameterText(value));
      known.runs++;
      if (typeof value !== 'number') known.isNumeric = false;
    }
  }
  const all = [...found].map(([key, { texts, runs: count, isNumeric }]): [string, VaryingParameter] => {
    const width = Math.max(...[...texts].map(textWidth));
    return [key, { values: texts.size + (count < runs.length ? 1 : 0), width, isNumeric }];
  });
  return new Map(all.filter(([, { values }]) => values > 1));
}
