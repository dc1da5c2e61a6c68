import { tellingParameter } from '../../analysis/parameters/settings.js';
import { parameterOf, type Parameters } from '../../base/scalar.js';
import { parametersText } from '../../text/parameters-text.js';
import { palette } from './figure.js';

export type LegendEntry = { readonly colour: string; readonly text: string };

/**
 * The colours of curves. `isOfSettings`: each setting has one; `parameter`: which parameter has one for each of its values; null:
 * none. Without either, all curves are drawn in the colour of the text.
 */
export type CurveColours = {
  readonly isOfSettings: boolean;
  readonly parameter: string | null;
  readonly of: (setting: string) => string;
  readonly legend: readonly LegendEntry[];
};

type Coloured = { readonly setting: string; readonly parameters: Parameters };

/**
 * Colours by setting as far as there are enough of them; else by the parameter that matters most among those with few values.
 *
 * @param settings In their order. @param byImportance Names of parameters, the one that matters most first; others follow as the runs
 * have them.
 */
export function curveColours(
  settings: readonly string[],
  runs: readonly Coloured[],
  byImportance: readonly string[],
): CurveColours {
  if (settings.length <= palette.length) {
    const colours = new Map(settings.map((setting, index) => [setting, palette[index]!]));
    const legend = settings.length < 2 ? [] : [...colours].map(([text, colour]) => ({ colour, text }));
    return { isOfSettings: true, parameter: null, of: (setting) => colours.get(setting) ?? 'currentColor', legend };
  }
  const all = runs.map(({ parameters }) => parameters);
  const names = new Set([...byImportance, ...all.flatMap((parameters) => Object.keys(parameters))]);
  const parameter = tellingParameter(names, all, palette.length);
  if (parameter === null) return { isOfSettings: false, parameter, of: () => 'currentColor', legend: [] };
  const values = valuesOf(parameter, runs);
  const colourOf = (run: Coloured) => palette[values.indexOf(textOf(parameter, run))]!;
  const colours = new Map(runs.map((run) => [run.setting, colourOf(run)]));
  const legend = values.map((text, index) => ({ colour: palette[index]!, text }));
  return { isOfSettings: false, parameter, of: (setting) => colours.get(setting) ?? 'currentColor', legend };
}

/** In the order of their numbers, where they are numbers. */
function valuesOf(name: string, runs: readonly Coloured[]): string[] {
  const values = new Map(runs.map((run) => [textOf(name, run), parameterOf(run.parameters, name)]));
  const sorted = [...values].sort(([, a], [, b]) => (typeof a === 'number' && typeof b === 'number' ? a - b : 0));
  return sorted.map(([text]) => text);
}

function textOf(name: string, { parameters }: Coloured): string {
  return parametersText({ [name]: parameterOf(parameters, name) ?? 'none' });
}
