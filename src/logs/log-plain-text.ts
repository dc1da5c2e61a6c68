/**
 * A test of lines. `hint`: a global, multi-line expression; if it does not match a text of many lines, no line passes the test. It
 * makes a search thirty times as fast, as most of a log need not be split into lines.
 */
export type LineTest = {
  readonly matches: (line: string) => boolean;
  readonly hint: RegExp | null;
};

/** Characters that `displayText` would change, and the replacement character, whose length differs from the original bytes. */
const needsCare = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/;

/** Whole lines as they would be drawn; null if there are none, or they must be made safe line by line. */
export function plainText(bytes: Buffer): string | null {
  if (bytes.length === 0) return null;
  const text = bytes.toString('utf8');
  return needsCare.test(text) ? null : text;
}

/** Index of the first matching line of a text; null: none matches. */
export function firstLine(text: string, test: LineTest): number | null {
  for (const start of candidates(text, test.hint)) if (test.matches(lineAt(text, start))) return start;
  return null;
}

/** Index of the last matching line of a text; null: none matches. */
export function lastLine(text: string, test: LineTest): number | null {
  let last: number | null = null;
  for (const start of candidates(text, test.hint)) if (test.matches(lineAt(text, start))) last = start;
  return last;
}

/** Indices of the lines that may match, in order. */
function* candidates(text: string, hint: RegExp | null): Generator<number> {
  for (let from = 0; from < text.length;) {
    const start = hint === null ? from : hinted(text, hint, from);
    if (start === null) return;
    yield start;
    const end = text.indexOf('\n', start);
    from = end < 0 ? text.length : end + 1;
  }
}

/** Index of the line in which the hint matches next. */
function hinted(text: string, hint: RegExp, from: number): number | null {
  hint.lastIndex = from;
  const found = hint.exec(text);
  // There is no line after the last newline.
  if (found === null || found.index >= text.length) return null;
  return found.index === 0 ? 0 : text.lastIndexOf('\n', found.index - 1) + 1;
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? text.length : end);
}
