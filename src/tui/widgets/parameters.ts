import { allParametersOf, anyParameterOf, isMapValue } from '../../base/scalar.js';
import { cleanText } from '../../text/display-text.js';
import type { RunSummary } from '../state/port.js';
import { narrowNumber } from '../../text/numbers.js';
import { ends, type Line, lineWidth, span } from '../surface/span.js';

type Value = RunSummary['parameters'][string];

/**
 * The common parameters of several runs, as many per line as fit, in at most `height` lines. Those that vary over the sweep come
 * first and are highlighted; for those that differ between these runs, the number of values is shown.
 */
export function parameterLines(
  runs: readonly RunSummary[],
  varying: ReadonlySet<string>,
  width: number,
  height: number,
): Line[] {
  const keys = runs[0] === undefined ? [] : Object.keys(allParametersOf(runs[0]));
  const ordered = [...keys.filter((key) => varying.has(key)), ...keys.filter((key) => !varying.has(key))];
  const pairs = ordered.map((key): Line => {
    const tone = varying.has(key) ? 'strong' : 'plain';
    return [span(`${cleanText(key)} `, 'dim'), span(valueText(runs, key, width), tone)];
  });
  return flow(pairs, width, height);
}

/** Arranges pieces in lines, two spaces apart; the last line gives the number of pieces that did not fit. */
export function flow(pieces: readonly Line[], width: number, height: number): Line[] {
  const lines: { line: Line; pieces: number }[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    if (last === undefined || lineWidth(last.line) + 2 + lineWidth(piece) > width)
      lines.push({ line: piece, pieces: 1 });
    else lines[lines.length - 1] = { line: [...last.line, span('  '), ...piece], pieces: last.pieces + 1 };
  }
  const shown = lines.slice(0, height).map(({ line }) => line);
  const hidden = lines.slice(height).reduce((sum, line) => sum + line.pieces, 0);
  const last = shown.at(-1);
  if (hidden === 0 || last === undefined) return shown;
  return [...shown.slice(0, -1), ends(last, [span(` +${hidden}`, 'faint')], width)];
}

function valueText(runs: readonly RunSummary[], key: string, width: number): string {
  const values = new Set(runs.map((run) => scalarText(anyParameterOf(run, key))));
  const [first] = values;
  const text = values.size === 1 ? first! : [...values].slice(0, 12).join(' ');
  return text.length <= Math.max(12, width - key.length - 4)
    ? text
    : values.size === 1
      ? text
      : `${values.size} values`;
}

/** A value in few columns; `–` if the run lacks the parameter. */
export function scalarText(value: Value | undefined): string {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return `[${value.map((item) => scalarText(item)).join(', ')}]`;
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : shortestText(value);
  return cleanText(isMapValue(value) ? JSON.stringify(value) : String(value));
}

/** The number as written if that is short (`0.0001`), otherwise rounded. */
function shortestText(value: number): string {
  const exact = String(value);
  return exact.length <= 8 ? exact : narrowNumber(value);
}
