import { UserError } from '../../base/user-error.js';

/** The path to a value in a file: `groups`, `A`, `parameters`, `N`. */
export type KeyPath = readonly (string | number)[];

/** A range of characters of the file's text. */
export type Place = { readonly start: number; readonly end: number };

/** One mistake: its place (null: in an option, not in the file), its key, what is wrong, and how to fix it. */
export type LocatedDiagnostic = {
  readonly place: Place | null;
  readonly keys: KeyPath;
  readonly problem: string;
  readonly fix: string;
};

/** All mistakes in one file as one error, in file order, each with its line and a mark below it. */
export function diagnosticsError(path: string, text: string, diagnostics: readonly LocatedDiagnostic[]): UserError {
  const sorted = [...diagnostics].sort((left, right) => (left.place?.start ?? -1) - (right.place?.start ?? -1));
  const shown = sorted.slice(0, mostShown);
  const told = shown.map((diagnostic) => tell(path, text, diagnostic));
  const fixes = [...new Set(shown.map(({ fix }) => fix))];
  const rest = sorted.length === shown.length ? '' : ` These are the first ${mostShown}.`;
  const heading = told.length === 1 ? '' : `${path} has ${sorted.length.toLocaleString('en-US')} mistakes.${rest}\n\n`;
  const fix = fixes.length === 1 ? fixes[0]! : fixes.map((line) => `- ${line}`).join('\n  ');
  return new UserError(heading + told.join('\n\n'), fix);
}

/** Number of mistakes that are shown. */
const mostShown = 20;

/** The text of a path: `groups.A.parameters.N`, with list items as `cases[2]`. */
export function keyText(keys: KeyPath): string {
  return keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}

function tell(path: string, text: string, diagnostic: LocatedDiagnostic): string {
  const where = diagnostic.keys.length === 0 ? '' : ` ${keyText(diagnostic.keys)}:`;
  if (diagnostic.place === null) return `${path}:${where} ${diagnostic.problem}`;
  const { line, column, excerpt } = excerptAt(text, diagnostic.place);
  return `${path}:${line}:${column}:${where} ${diagnostic.problem}\n${excerpt}`;
}

const widest = 100;

/** The line of a place with a mark below it. Lines and columns count from 1, columns in characters. */
function excerptAt(text: string, place: Place): { line: number; column: number; excerpt: string } {
  const start = Math.min(place.start, text.length);
  const lineStart = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1;
  const nextLine = text.indexOf('\n', start);
  const lineEnd = nextLine < 0 ? text.length : nextLine;
  const line = text.slice(0, lineStart).split('\n').length;
  const column = start - lineStart;
  // Of a very long line only the part around the mark is shown.
  const from = Math.max(0, column - widest / 2);
  const shown = printable(text.slice(lineStart + from, Math.min(lineEnd, lineStart + from + widest)));
  const room = Math.max(1, shown.length - (column - from));
  const mark = '^'.repeat(Math.min(room, Math.max(1, place.end - start)));
  const margin = String(line).padStart(5);
  const excerpt = `${margin} | ${shown}\n${' '.repeat(5)} | ${' '.repeat(column - from)}${mark}`;
  return { line, column: column + 1, excerpt };
}

/** Replaces tabs and control characters by blanks, so that text from a file cannot move the cursor. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** A mistake before its place in the text is known. Without keys it is about an option, which has no place. */
export type Mistake = {
  readonly keys: KeyPath | null;
  /** Range of characters in the text at `keys`. */
  readonly span?: Place;
  readonly problem: string;
  readonly fix: string;
};

/** Receives mistakes while the check continues. */
export type Report = (mistake: Mistake) => void;

/** Adds the place in a text to a mistake. */
export function locatedDiagnostic(
  placeOf: (keys: KeyPath, span?: Place) => Place,
): (mistake: Mistake) => LocatedDiagnostic {
  return ({ keys, span, problem, fix }) => ({ place: keys && placeOf(keys, span), keys: keys ?? [], problem, fix });
}
