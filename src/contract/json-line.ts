/**
 * Parses one line of a JSON-lines file that any program may have written.
 *
 * Python writes bare `NaN`, `Infinity` and `-Infinity`, which JSON forbids; they are read as numbers here.
 *
 * @returns The object, or null when the line is not a JSON object (torn, empty, foreign).
 */
export function parseJsonLine(line: string): Record<string, unknown> | null {
  return (
    parseObject(line, (text) => JSON.parse(text)) ?? (lenientWords.test(line) ? parseObject(line, parseLenient) : null)
  );
}

const lenientWords = /NaN|Infinity/;

function parseObject(line: string, parse: (text: string) => unknown): Record<string, unknown> | null {
  try {
    const value = parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // The line is not JSON, or is nested too deeply to be parsed.
    return null;
  }
}

const named: Record<string, number> = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, '-Infinity': -Infinity };
/** Marks a replaced literal inside the JSON text; a private-use character no log contains by accident. */
const mark = '\uE000';

function parseLenient(line: string): unknown {
  // Strings are matched first, so that a literal inside a string is left alone. An unterminated string is matched too: otherwise
  // the search for its end would start again at each quote inside it, which takes minutes.
  const marked = line.replace(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|-?\b(?:NaN|Infinity)\b/g, (token) =>
    token.startsWith('"') ? token : `"${mark}${token}"`,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? named[value.slice(1)] : value,
  );
}
